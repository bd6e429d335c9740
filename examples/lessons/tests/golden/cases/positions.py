"""Sinusoids of a step added to every row, and sinusoids and learned rows of positions concatenated with rows."""

import torch
from torch import nn
from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding

from maker.layers.case import Case, random


def angles(positions, width):
    pairs = torch.arange(0, width, 2, dtype=torch.float64)
    return positions.double()[:, None] / 10000 ** (pairs / width)


def interleaved(positions, width):
    encodings = torch.zeros(len(positions), width, dtype=torch.float64)
    encodings[:, 0::2] = angles(positions, width).sin()
    encodings[:, 1::2] = angles(positions, width).cos()[:, : width // 2]
    return encodings


def halves(positions, width):
    return torch.cat([angles(positions, width).sin(), angles(positions, width).cos()[:, : width // 2]], dim=1)


def timing_signal(positions, width):
    return M2M100SinusoidalPositionalEmbedding.get_embedding(int(positions.max()) + 1, width, None)[positions].double()


def timestep_cases():
    for layout in interleaved, halves, timing_signal:
        for width, step in (8, 1), (7, 41):
            x = random(f"positions/timestep/{layout.__name__}/{width}", 3, width)
            name = f"timestep_{layout.__name__}_{width}"
            yield Case(name, {"x": x, "step": torch.tensor([step])}, {"sum": x + layout(torch.tensor([step]), width)})


def concatenated_cases():
    x = random("positions/concatenated/x", 5, 6)
    positions = torch.arange(3, 8)
    table = random("positions/concatenated/table", 8, 3)
    for name, encodings, weights in [
        ("concatenated_sinusoidal", interleaved(positions, 3), {}),
        ("concatenated_learned", table[positions], {"positions.weight": table}),
    ]:
        linear = nn.Linear(9, 5).double()
        linear.weight.data, linear.bias.data = random(f"{name}/weight", 5, 9), random(f"{name}/bias", 5)
        y = linear(torch.cat([x, encodings], dim=1)).detach()
        yield Case(name, {"x": x, "past": torch.tensor([3])}, {"y": y}, weights | {"weight": linear.weight.data, "bias": linear.bias.data})


def cases():
    yield from timestep_cases()
    yield from concatenated_cases()
