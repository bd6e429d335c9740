"""Probabilities of speech by Silero VAD's graph (silero_vad/tinygrad_model.py) in torch. The weights come from a formula, with
which the test computes the same weights."""

import numpy as np
import torch
from torch.nn import functional

from .noise import noise

WINDOW, CONTEXT = 512, 64
SAMPLES = 60 * WINDOW + 200
# Name, shape and limit. Names and shapes are those of silero_vad_16k.safetensors; the limits make the probabilities vary.
TENSORS = [
    ("stft_conv.weight", [258, 1, 256], 0.25),
    ("conv1.weight", [128, 129, 3], 0.125), ("conv1.bias", [128], 0.25),
    ("conv2.weight", [64, 128, 3], 0.125), ("conv2.bias", [64], 0.25),
    ("conv3.weight", [64, 64, 3], 0.25), ("conv3.bias", [64], 0.25),
    ("conv4.weight", [128, 64, 3], 0.25), ("conv4.bias", [128], 0.25),
    ("lstm_cell.weight_ih", [512, 128], 0.125), ("lstm_cell.weight_hh", [512, 128], 0.125),
    ("lstm_cell.bias_ih", [512], 0.5), ("lstm_cell.bias_hh", [512], 0.5),
    ("final_conv.weight", [1, 128, 1], 1.0), ("final_conv.bias", [1], 0.25),
]  # fmt: skip


def samples():
    """Returns noise that is alternately loud and quiet."""
    return noise(0, SAMPLES) * np.where(np.arange(SAMPLES) // 3000 % 2 == 0, np.float32(0.5), np.float32(2**-6))


class Model(torch.nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.weights = weights
        self.cell = torch.nn.LSTMCell(128, 128)
        self.cell.load_state_dict({name.split(".")[1]: w for name, w in weights.items() if name.startswith("lstm_cell")})

    def forward(self, x, state):
        x = functional.pad(x[None], (0, 64), "reflect")[None]
        x = functional.conv1d(x, self.weights["stft_conv.weight"], stride=128)
        x = (x[:, :129] ** 2 + x[:, 129:] ** 2).sqrt()
        for i, stride in enumerate((1, 2, 2, 1), 1):
            weight, bias = self.weights[f"conv{i}.weight"], self.weights[f"conv{i}.bias"]
            x = functional.conv1d(x, weight, bias, stride, padding=1).relu()
        state = self.cell(x.squeeze(-1), state)
        x = functional.conv1d(state[0].relu()[..., None], self.weights["final_conv.weight"], self.weights["final_conv.bias"])
        return x.sigmoid().item(), state


@torch.no_grad()
def probabilities():
    weights = {
        name: torch.tensor(noise(i, int(np.prod(shape))) * np.float32(limit)).reshape(shape)
        for i, (name, shape, limit) in enumerate(TENSORS, 1)
    }
    model, state = Model(weights), None
    padded = torch.tensor(np.pad(samples(), (CONTEXT, -SAMPLES % WINDOW)))
    for start in range(0, len(padded) - CONTEXT, WINDOW):
        probability, state = model(padded[start : start + CONTEXT + WINDOW], state)
        yield probability


def cases():
    tensors = [{"name": name, "shape": shape, "limit": limit} for name, shape, limit in TENSORS]
    yield {"tensors": tensors, "samples": SAMPLES, "probabilities": [float(f"{p:.8f}") for p in probabilities()]}
