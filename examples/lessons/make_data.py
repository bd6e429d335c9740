#!/usr/bin/env python3
"""Writes the weights in data/ that d2l_attention reads.

    pip install -r ../../tests/golden/requirements.txt
    python make_data.py

A second run writes the same bytes.
"""

from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

FOLDER = Path(__file__).parent / "data"


def make_d2l_attention():
    torch.manual_seed(1)
    tensors = {
        "additive_attention.query.weight": 0.3 * torch.randn(8, 20),
        "additive_attention.key.weight": torch.randn(8, 2),
        "additive_attention.value.weight": torch.randn(1, 8),
        "additive_queries": torch.randn(2, 1, 20),
        "dot_product_queries": torch.randn(2, 1, 2),
    }
    save_file(tensors, FOLDER / "d2l_attention.safetensors")
    np.savez(FOLDER / "d2l_attention.npz", **{name: tensor.numpy() for name, tensor in tensors.items()})


if __name__ == "__main__":
    make_d2l_attention()
