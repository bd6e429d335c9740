"""Masked softmax of scores without a batch. For batches see dense_attention.py."""

import torch

from maker.layers.case import Case, random
from .dense_attention import masked_softmax


def case(name, rows, keys, lengths=None):
    inputs = {"scores": random(f"masked_softmax/{name}", rows, keys, limit=4)}
    if lengths is not None:
        inputs["lengths"] = torch.tensor(lengths)
    return Case(name, inputs, {"weights": masked_softmax(inputs["scores"], inputs.get("lengths"))})


def cases():
    yield case("one_of_everything", 1, 1, [1])
    yield case("no_lengths", 3, 19)
    yield case("length_a_row", 6, 17, [17, 0, 5, 1, -3, 40])
