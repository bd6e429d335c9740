"""Code that the cases of self-attention share: projections, heads, and runs over packed sequences."""

import torch
from torch.nn.functional import linear

from maker.layers.case import random


def projections(name, model_dim):
    """Returns the weights of the query, key, value and output projections, all [model_dim, model_dim]."""
    weights = {}
    for part in "query", "key", "value", "output":
        weights[f"{part}.weight"] = random(f"{name}/{part}.weight", model_dim, model_dim, limit=(3 / model_dim) ** 0.5)
        weights[f"{part}.bias"] = random(f"{name}/{part}.bias", model_dim, limit=0.5)
    return weights


def project(weights, part, x):
    return linear(x, weights[f"{part}.weight"], weights[f"{part}.bias"])


def attend(query, key, value, heads, mask):
    """Computes softmax attention. Each head has its own block of columns. `mask` is added to the scores."""
    query, key, value = (part.unflatten(1, (heads, -1)).transpose(0, 1) for part in (query, key, value))
    scores = query @ key.transpose(1, 2) / query.shape[2] ** 0.5 + mask
    return (torch.softmax(scores, dim=2) @ value).transpose(0, 1).flatten(1)


def each_sequence(function, x, lengths):
    return torch.cat([function(sequence) for sequence in x.split(lengths)])
