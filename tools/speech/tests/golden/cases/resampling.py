"""Noise at other rates, resampled to 16 kHz by libswresample with its default settings."""

import av
import numpy as np

from .noise import noise

RATES = [8_000, 11_025, 22_050, 44_099, 44_100, 48_000, 96_000]


def resampled(samples, rate):
    resampler = av.AudioResampler(format="flt", layout="mono", rate=16_000)
    frame = av.AudioFrame.from_ndarray(samples[None], format="flt", layout="mono")
    frame.sample_rate = rate
    return np.concatenate([piece.to_ndarray()[0] for given in (frame, None) for piece in resampler.resample(given)])


def cases():
    for rate in RATES:
        samples = noise(rate, rate // 50)
        output = resampled(samples, rate)
        yield {"rate": rate, "output": [round(float(value), 6) for value in output]}
