"""A case of the golden values of a layer."""

import zlib
from dataclasses import dataclass, field

import torch


def random(name, *shape, limit=1.0):
    """Returns float64 numbers in [-limit, limit) that float32 holds exactly. `name` is the seed."""
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    return ((2 * torch.rand(shape, generator=generator) - 1) * limit).double()


@dataclass
class Case:
    """Inputs, weights and outputs by name. Outputs are computed in float64 from the stored values."""

    name: str
    inputs: dict
    outputs: dict
    weights: dict = field(default_factory=dict)

    def tensors(self):
        parts = {"input": self.inputs, "weight": self.weights, "output": self.outputs}
        return {f"{self.name}/{part}/{name}": stored(value) for part, named in parts.items() for name, value in named.items()}


def stored(value):
    return (value.float() if value.is_floating_point() else value.int()).contiguous()
