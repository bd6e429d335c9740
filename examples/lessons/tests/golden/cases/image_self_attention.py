"""SAGAN's attention with conv2d of width 1. conv2d has channels first; inputs and outputs of the cases have them last."""

import torch
from torch.nn.functional import conv2d

from maker.layers.case import Case, random


def cases():
    for name, shape, key_channels, value_channels, projected, has_bias in [
        ("paper", (2, 3, 5, 16), 2, 2, True, False),
        ("biases", (1, 7, 3, 11), 3, 5, True, True),
        ("direct", (3, 4, 4, 8), 1, 8, False, True),
        ("one_pixel", (2, 1, 1, 9), 2, 3, True, True),
    ]:
        channels = shape[3]
        widths = {"query": (key_channels, channels), "key": (key_channels, channels), "value": (value_channels, channels)}
        if projected:
            widths["output"] = (channels, value_channels)
        weights = {"gamma": random(f"image_self_attention/{name}/gamma", 1)}
        for part, (out, into) in widths.items():
            prefix = f"image_self_attention/{name}/{part}"
            weights[f"{part}.weight"] = random(f"{prefix}.weight", out, into, 1, 1, limit=(3 / into) ** 0.5)
            if has_bias:
                weights[f"{part}.bias"] = random(f"{prefix}.bias", out, limit=0.5)

        def convolve(part, images):
            return conv2d(images, weights[f"{part}.weight"], weights.get(f"{part}.bias"))

        x = random(f"image_self_attention/{name}/x", *shape)
        images = x.permute(0, 3, 1, 2)
        query, key, value = (convolve(part, images).flatten(2) for part in ("query", "key", "value"))
        scores = key.transpose(1, 2) @ query  # [B, i, j]: f(x_i) with g(x_j)
        attended = (value @ torch.softmax(scores, dim=1)).unflatten(2, shape[1:3])
        y = weights["gamma"] * (convolve("output", attended) if projected else attended) + images
        yield Case(name, {"x": x}, {"y": y.permute(0, 2, 3, 1)}, weights)
