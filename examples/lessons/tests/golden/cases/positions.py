"""Sinusoids of a step added to every row, and sinusoids and learned rows of positions concatenated with rows."""

import torch
from torch import nn

from maker.layers.case import Case, random
from maker.layers.positions import halves, interleaved, timing_signal


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
