"""Self-attention to keys and values that are shortened by a strided conv1d. The last window is padded with zeros."""

import torch
from torch.nn.functional import conv1d, pad

from maker.layers.case import Case, random
from self_attention import attend, each_sequence, project, projections


def shortened(weights, part, rows, kernel, stride):
    count = -(-len(rows) // stride)
    padded = pad(rows.T, (0, max(0, (count - 1) * stride + kernel - len(rows))))
    return conv1d(padded[None], weights[f"{part}_convolution.weight"], weights[f"{part}_convolution.bias"], stride)[0, :, :count].T


def cases():
    for name, model_dim, heads, kernel, stride, lengths in [
        ("paper", 6, 2, 3, 3, [9, 10, 11]),
        ("shorter_than_the_kernel", 9, 3, 5, 5, [1, 4, 2]),
        ("overlapping", 5, 1, 5, 2, [13, 1, 6]),
        ("one", 8, 4, 1, 1, [4, 3]),
    ]:
        weights = projections(f"memory_compressed_attention/{name}", model_dim)
        for part in "key", "value":
            prefix = f"memory_compressed_attention/{name}/{part}_convolution"
            limit = (3 / (model_dim * kernel)) ** 0.5
            weights[f"{part}_convolution.weight"] = random(f"{prefix}.weight", model_dim, model_dim, kernel, limit=limit)
            weights[f"{part}_convolution.bias"] = random(f"{prefix}.bias", model_dim, limit=0.5)
        x = random(f"memory_compressed_attention/{name}/x", sum(lengths), model_dim)

        def compressed(rows):
            key, value = (shortened(weights, part, project(weights, part, rows), kernel, stride) for part in ("key", "value"))
            return project(weights, "output", attend(project(weights, "query", rows), key, value, heads, 0))

        numbers = {"heads": heads, "kernel": kernel, "stride": stride}
        inputs = {"x": x, "lengths": torch.tensor(lengths)} | {k: torch.tensor([v]) for k, v in numbers.items()}
        yield Case(name, inputs, {"y": each_sequence(compressed, x, lengths)}, weights)
