"""Positional encodings: sinusoids in each layout, learned rows, and T5's relative position bias."""

import torch
from torch import nn
from transformers import T5Config
from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding
from transformers.models.t5.modeling_t5 import T5Attention

from .case import Case, random


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


def sinusoid_cases():
    for layout in interleaved, halves, timing_signal:
        for width, past in (8, 0), (7, 40):
            x = random(f"positions/{layout.__name__}/{width}", 5, width)
            positions = torch.arange(past, past + 5)
            name = f"{layout.__name__}_{width}"
            yield Case(name, {"x": x, "past": torch.tensor([past])}, {"sum": x + layout(positions, width)})


def learned_case():
    x, table = random("positions/learned/x", 5, 7), random("positions/learned/table", 9, 7)
    learned = nn.Embedding(9, 7).double()
    learned.weight.data = table
    positions = torch.arange(5) + 2  # the past is 0; the first 2 rows of the table are not positions
    yield Case("learned", {"x": x, "past": torch.tensor([0])}, {"sum": x + learned(positions)}, {"weight": table})


def relative_cases():
    for name, is_decoder in ("relative_both", False), ("relative_backward", True):
        config = T5Config(d_model=15, d_kv=5, num_heads=3, relative_attention_num_buckets=8, relative_attention_max_distance=20, is_decoder=is_decoder)
        attention = T5Attention(config, has_relative_attention_bias=True).double()
        weights = {"relative_position_bias.weight": random(f"{name}/table", 8, 3, limit=2)}
        attention.relative_attention_bias.weight.data = weights["relative_position_bias.weight"]
        for ours, theirs in ("query", attention.q), ("key", attention.k), ("value", attention.v), ("output", attention.o):
            weights[f"{ours}.weight"] = random(f"{name}/{ours}", 15, 15, limit=0.5)
            theirs.weight.data = weights[f"{ours}.weight"]
        x = random(f"{name}/x", 27, 15)
        bias = attention.compute_bias(27, 27).detach()  # [1, H, queries, keys]
        mask = torch.full((27, 27), -torch.inf, dtype=torch.float64).triu(1) if is_decoder else torch.zeros(27, 27, dtype=torch.float64)
        heads = [(x @ weights[f"{part}.weight"].T).view(27, 3, 5).transpose(0, 1) for part in ("query", "key", "value")]
        attended = (heads[0] @ heads[1].transpose(1, 2) + bias[0] + mask).softmax(-1) @ heads[2]
        y = attended.transpose(0, 1).reshape(27, 15) @ weights["output.weight"].T
        yield Case(name, {"x": x}, {"bias": bias[0].reshape(81, 27), "y": y}, weights)


def cases():
    yield from sinusoid_cases()
    yield from learned_case()
    yield from relative_cases()
