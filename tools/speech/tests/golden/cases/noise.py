"""Noise that the C++ tests generate, too."""

import numpy as np


def noise(seed, count):
    """Returns uniform numbers in [-1, 1), exact in float32: the upper 24 bits of splitmix64 (Steele et al. 2014)."""
    with np.errstate(over="ignore"):
        x = (np.arange(1, count + 1, dtype=np.uint64) + (np.uint64(seed) << np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    return ((x >> np.uint64(40)).astype(np.float32) - np.float32(2**23)) / np.float32(2**23)
