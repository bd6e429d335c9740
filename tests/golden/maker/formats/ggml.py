"""whisper.cpp's ggml files, as written by its models/convert-pt-to-ggml.py and examples/quantize (blocks of ggml-quants.c)."""

import struct

import numpy as np

MAGIC = 0x67676D6C
BLOCK = 32
VERSION = 2  # version of the quantisation
# Name -> number of the type, and number of a file whose matrices are mostly of this type.
TYPES = {"f32": (0, 0), "f16": (1, 1), "q4_0": (2, 2), "q4_1": (3, 3), "q5_0": (6, 8), "q5_1": (7, 9), "q8_0": (8, 7)}
SIZES = ["n_vocab", "n_audio_ctx", "n_audio_state", "n_audio_head", "n_audio_layer", "n_text_ctx", "n_text_state"]
SIZES += ["n_text_head", "n_text_layer", "n_mels"]


def half(values):
    """Returns the values rounded to float16, as float16 and as float32."""
    stored = values.astype(np.float16)
    return stored, stored.astype(np.float32)


def quantise(values, kind):
    """Quantises float32 [N, K]. Returns the bytes of the blocks, and their values as float32 [N, K]."""
    blocks = values.reshape(-1, BLOCK)
    bits = int(kind[1])
    if kind == "q8_0":
        stored, scale = half(np.abs(blocks).max(1) / 127)
        numbers = np.rint(blocks / np.where(scale, scale, 1)[:, None]).clip(-127, 127)
        parts = [stored.view(np.uint8).reshape(-1, 2), numbers.astype(np.int8).view(np.uint8)]
        return np.hstack(parts).tobytes(), (numbers * scale[:, None]).reshape(values.shape)
    levels, smallest, parts = 2**bits, 0.0, []
    if kind.endswith("_0"):  # the value of the largest magnitude becomes the lowest level
        largest = np.take_along_axis(blocks, np.abs(blocks).argmax(1)[:, None], 1)[:, 0]
        stored, scale = half(largest / -(levels / 2))
        middle = levels / 2
        parts = [stored.view(np.uint8).reshape(-1, 2)]
    else:
        stored, scale = half((blocks.max(1) - blocks.min(1)) / (levels - 1))
        stored_smallest, smallest = half(blocks.min(1))
        smallest, middle = smallest[:, None], 0
        parts = [stored.view(np.uint8).reshape(-1, 2), stored_smallest.view(np.uint8).reshape(-1, 2)]
    numbers = np.rint((blocks - smallest) / np.where(scale, scale, 1)[:, None] + middle).clip(0, levels - 1).astype(np.uint8)
    if bits == 5:
        fifth = (numbers.astype(np.uint32) >> 4) << np.arange(BLOCK, dtype=np.uint32)
        parts.append(fifth.sum(1, dtype=np.uint32).view(np.uint8).reshape(-1, 4))
    parts.append(numbers[:, : BLOCK // 2] & 15 | (numbers[:, BLOCK // 2 :] & 15) << 4)
    values_read = (numbers.astype(np.float32) - middle) * scale[:, None] + smallest
    return np.hstack(parts).tobytes(), values_read.reshape(values.shape).astype(np.float32)


def stored_as(name, values, kind):
    """Returns the type and shape in which converters store a tensor."""
    if name in ("encoder.conv1.bias", "encoder.conv2.bias"):
        return "f32", (*values.shape, 1)
    if values.ndim < 2 or "positional_embedding" in name:
        return "f32", values.shape
    return ("f16" if values.ndim > 2 else kind), values.shape


def write_ggml(path, sizes, filters, texts, tensors, kind):
    """Writes a ggml file of `tensors` (name -> float32 array). Returns the stored values by name, as a reader that converts
    quantised tensors to float16 returns them."""
    number = TYPES[kind][1] + (1000 * VERSION if kind.startswith("q") else 0)
    with open(path, "wb") as file:
        file.write(struct.pack("<12i", MAGIC, *(sizes[key] for key in SIZES), number))
        file.write(struct.pack("<2i", *filters.shape) + filters.astype("<f4").tobytes())
        file.write(struct.pack("<i", len(texts)))
        for text in texts:
            file.write(struct.pack("<i", len(text)) + text)
        found = {}
        for name, values in tensors.items():
            stored, shape = stored_as(name, values, kind)
            if stored.startswith("q"):
                data, read = quantise(values, stored)
                found[name] = read.astype(np.float16).astype(np.float32)
            else:
                data = values.astype("<f4" if stored == "f32" else "<f2")
                found[name] = data.astype(np.float32)
                data = data.tobytes()
            encoded = name.encode()
            file.write(struct.pack("<3i", len(shape), len(encoded), TYPES[stored][0]))
            file.write(struct.pack(f"<{len(shape)}i", *reversed(shape)) + encoded + data)
    return found
