#!/usr/bin/env python3
"""Writes data/: the weights that tiny_transformer reads, and the logits that PyTorch computes with them.

    pip install -r ../tests/golden/requirements.txt
    python make_data.py

A second run writes the same bytes.
"""

import math
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

FOLDER = Path(__file__).parent / "data"
MODEL_DIM, HEADS, HIDDEN_DIM, LAYERS, VOCABULARY = 8, 2, 16, 2, 12


def attention_weights(name, attention):
    parts = zip(("query", "key", "value"), attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3))
    named = {f"{name}.{part}.{kind}": t for part, weight, bias in parts for kind, t in (("weight", weight), ("bias", bias))}
    return named | module_weights(f"{name}.output", attention.out_proj)


def module_weights(name, module):
    return {f"{name}.weight": module.weight, f"{name}.bias": module.bias}


def layer_weights(name, layer):
    named = attention_weights(f"{name}.self_attention", layer.self_attn) | module_weights(f"{name}.self_attention_norm", layer.norm1)
    last_norm = layer.norm2
    if hasattr(layer, "multihead_attn"):
        named |= attention_weights(f"{name}.cross_attention", layer.multihead_attn)
        named |= module_weights(f"{name}.cross_attention_norm", layer.norm2)
        last_norm = layer.norm3
    named |= module_weights(f"{name}.feed_forward.expand", layer.linear1)
    named |= module_weights(f"{name}.feed_forward.project", layer.linear2)
    return named | module_weights(f"{name}.feed_forward_norm", last_norm)


def positions(count):
    angles = torch.arange(count)[:, None] / 10000 ** (torch.arange(0, MODEL_DIM, 2) / MODEL_DIM)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def make_tiny_transformer():
    torch.manual_seed(8)
    options = {"dim_feedforward": HIDDEN_DIM, "dropout": 0.0, "batch_first": True}
    encoder = [nn.TransformerEncoderLayer(MODEL_DIM, HEADS, **options) for _ in range(LAYERS)]
    decoder = [nn.TransformerDecoderLayer(MODEL_DIM, HEADS, **options) for _ in range(LAYERS)]
    tables = {stack: nn.Embedding(VOCABULARY, MODEL_DIM) for stack in ("encoder", "decoder")}
    output = nn.Linear(MODEL_DIM, VOCABULARY)
    for module in (*encoder, *decoder, *tables.values(), output):
        for name, parameter in module.named_parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.4 if "attn" in name else 1.0)
            else:  # vectors: scales of norms have mean 1, biases have mean 0
                nn.init.normal_(parameter, mean=float("norm" in name and "weight" in name), std=0.2)
    ids = {"source": torch.tensor([3, 1, 4, 1, 5, 9]), "target": torch.tensor([0, 2, 7, 1, 8])}

    weights = module_weights("output", output)
    for stack, layers in (("encoder", encoder), ("decoder", decoder)):
        weights[f"{stack}.embedding.weight"] = tables[stack].weight
        for i, layer in enumerate(layers):
            weights |= layer_weights(f"{stack}.{i}", layer)
    weights = {name: weight.detach().clone().contiguous() for name, weight in weights.items()}

    def embed(stack, tokens):
        return (tables[stack](tokens).double() * math.sqrt(MODEL_DIM) + positions(len(tokens)).double())[None]

    with torch.no_grad():
        memory, x = embed("encoder", ids["source"]), embed("decoder", ids["target"])
        for layer in encoder:
            memory = layer.double()(memory)
        mask = nn.Transformer.generate_square_subsequent_mask(len(ids["target"])).double()
        for layer in decoder:
            x = layer.double()(x, memory, tgt_mask=mask)
        logits = output.double()(x)[0]
    print("likeliest next ids", logits.argmax(-1).tolist())
    others = {f"{name}_ids": tokens.int() for name, tokens in ids.items()} | {"pytorch_logits": logits.float()}
    save_file(weights | others, FOLDER / "tiny_transformer.safetensors")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    make_tiny_transformer()
