"""Scoring functions, masked softmax and attention over dense batches, as defined in d2l.ai 10.2 and 10.3."""

import math

import torch

from maker.layers.case import Case, random


def masked_softmax(scores, lengths):
    """Computes the softmax after setting scores beyond the length to -1e6. `lengths` has an entry for each row or for each
    member of the batch."""
    if lengths is None:
        return torch.softmax(scores, dim=-1)
    of_rows = lengths if lengths.dim() == scores.dim() - 1 else lengths[:, None].expand(scores.shape[:-1])
    is_valid = torch.arange(scores.shape[-1]) < of_rows[..., None]
    return torch.softmax(torch.where(is_valid, scores, -1e6), dim=-1)


def attention(scores, lengths, values):
    weights = masked_softmax(scores, lengths)
    return {"scores": scores, "weights": weights, "attended": weights @ values}


def inputs(name, batch, queries, keys, query_dim, key_dim, value_dim, lengths):
    named = {
        "queries": random(f"{name} queries", batch, queries, query_dim),
        "keys": random(f"{name} keys", batch, keys, key_dim),
        "values": random(f"{name} values", batch, keys, value_dim),
    }
    if lengths is not None:
        named["lengths"] = torch.tensor(lengths)
    return named


def dot_product(name, batch, queries, keys, width, value_dim, scale, lengths=None):
    x = inputs(name, batch, queries, keys, width, width, value_dim, lengths)
    scores = x["queries"] @ x["keys"].transpose(1, 2)
    if scale == "scaled":
        scores = scores / math.sqrt(width)
    return Case(f"{scale}_{name}", x, attention(scores, x.get("lengths"), x["values"]))


def additive(name, batch, queries, keys, query_dim, key_dim, hidden, value_dim, lengths=None, bias=False):
    x = inputs(name, batch, queries, keys, query_dim, key_dim, value_dim, lengths)
    shapes = {"query": (hidden, query_dim), "key": (hidden, key_dim), "value": (1, hidden)}
    weights = {f"{part}.weight": random(f"{name} {part}", *shape) for part, shape in shapes.items()}
    if bias:
        weights |= {f"{part}.bias": random(f"{name} {part} bias", shape[0]) for part, shape in shapes.items()}

    def project(part, rows):
        return torch.nn.functional.linear(rows, weights[f"{part}.weight"], weights.get(f"{part}.bias"))

    hidden_queries, hidden_keys = project("query", x["queries"]), project("key", x["keys"])
    scores = project("value", torch.tanh(hidden_queries[:, :, None] + hidden_keys[:, None])).squeeze(-1)
    outputs = {"hidden": hidden_keys} | attention(scores, x.get("lengths"), x["values"])
    return Case(f"additive_{name}", x, outputs, weights)


def cases():
    return [
        dot_product("one_of_everything", 1, 1, 1, 1, 1, "plain"),
        dot_product("plain_batch", 2, 3, 5, 7, 4, "plain", [2, 6]),
        dot_product("batch", 3, 2, 19, 13, 11, "scaled", [19, 0, 7]),
        dot_product("length_a_row", 2, 5, 6, 20, 3, "scaled", [[1, 6, 0, -2, 9], [3, 2, 1, 4, 5]]),
        dot_product("no_lengths", 1, 9, 17, 33, 17, "scaled"),
        additive("one_of_everything", 1, 1, 1, 1, 1, 1, 1),
        additive("batch", 2, 3, 7, 5, 3, 11, 4, [7, 0]),
        additive("length_a_row", 2, 2, 18, 4, 9, 17, 5, [[1, 18], [40, 13]]),
        additive("bias", 1, 4, 5, 6, 6, 33, 2, bias=True),
    ]
