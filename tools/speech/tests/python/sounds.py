"""Recordings for models with random weights."""

from __future__ import annotations

import io
import wave
from typing import Any

import numpy
import numpy.typing


def noise(seconds: float, seed: int = 0) -> numpy.typing.NDArray[numpy.int16]:
    """Returns samples of noise whose loudness rises and falls."""
    count = round(seconds * 16_000)
    loud = 6_000 * numpy.abs(numpy.sin(numpy.arange(count) / 3_000))
    return (loud * numpy.random.default_rng(seed).uniform(-1, 1, count)).astype(numpy.int16)


def wav(samples: numpy.typing.NDArray[Any], rate: int = 16_000) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1 if samples.ndim == 1 else samples.shape[1])
        writer.setsampwidth(2)
        writer.setframerate(rate)
        writer.writeframes(samples.astype("<i2").tobytes())
    return file.getvalue()
