"""A checkpoint of Whisper with random weights, and recordings for it."""

from __future__ import annotations

import io
import json
import wave
from pathlib import Path
from typing import Any

import numpy
import numpy.typing

WIDTH, BANDS, POSITIONS, CONTEXT = 16, 20, 50, 48  # a window is one second
SPECIALS = ["endoftext", "startoftranscript", "en", "de", "fr", "translate", "transcribe", "startoflm", "startofprev"]
SPECIALS += ["nospeech", "notimestamps", *(f"{i * 0.02:.2f}" for i in range(POSITIONS + 1))]


def make(folder: Path) -> Path:
    pieces = _byte_pieces()
    end = len(pieces)
    ids = {"bos_token_id": end, "eos_token_id": end, "pad_token_id": end, "decoder_start_token_id": end + 1}
    config: dict[str, Any] = {
        "model_type": "whisper", "d_model": WIDTH, "vocab_size": end + len(SPECIALS), "num_mel_bins": BANDS,
        "max_source_positions": POSITIONS, "max_target_positions": CONTEXT, **ids,
    }  # fmt: skip
    for stack in ("encoder", "decoder"):
        config |= {f"{stack}_layers": 1, f"{stack}_attention_heads": 2, f"{stack}_ffn_dim": 2 * WIDTH}
    tokens = [{"id": end + i, "content": f"<|{name}|>", "special": True} for i, name in enumerate(SPECIALS)]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    tokenizer = {
        "version": "1.0", "added_tokens": tokens, "pre_tokenizer": level, "decoder": level,
        "model": {"type": "BPE", "vocab": {piece: i for i, piece in enumerate(pieces)}, "merges": []},
    }  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in {
        "config.json": config,
        "generation_config.json": {**ids, "is_multilingual": True, "alignment_heads": [[0, 0], [0, 1]]},
        "tokenizer.json": tokenizer,
    }.items():
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    _save(_weights(config), folder / "model.safetensors")
    return folder


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


def _byte_pieces() -> list[str]:
    """Returns the characters by which GPT-2's vocabulary writes bytes."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return [*map(chr, shown), *(chr(256 + i) for i in range(256 - len(shown)))]


def _weights(config: dict[str, Any]) -> dict[str, numpy.typing.NDArray[numpy.float32]]:
    random = numpy.random.default_rng(3)

    def of(*shape: int, scale: float = 1.0) -> Any:
        return (random.normal(0, scale / numpy.sqrt(shape[-1]), shape)).astype(numpy.float32)

    weights = {
        "encoder.conv1.weight": of(WIDTH, BANDS, 3), "encoder.conv2.weight": of(WIDTH, WIDTH, 3),
        "encoder.embed_positions.weight": of(POSITIONS, WIDTH), "decoder.embed_positions.weight": of(CONTEXT, WIDTH, scale=4),
        "decoder.embed_tokens.weight": of(config["vocab_size"], WIDTH, scale=3),
    }  # fmt: skip
    blocks = {"encoder": ["self_attn"], "decoder": ["self_attn", "encoder_attn"]}
    for stack, attentions in blocks.items():
        layer = f"{stack}.layers.0."
        for attention in attentions:
            for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
                weights[f"{layer}{attention}.{part}.weight"] = of(WIDTH, WIDTH, scale=2)
        weights |= {f"{layer}fc1.weight": of(2 * WIDTH, WIDTH), f"{layer}fc2.weight": of(WIDTH, 2 * WIDTH)}
        for norm in (*(f"{layer}{each}_layer_norm" for each in attentions), f"{layer}final_layer_norm", f"{stack}.layer_norm"):
            weights[f"{norm}.weight"] = numpy.ones(WIDTH, numpy.float32)
    for name in [*weights]:
        if name.endswith(".weight") and "embed" not in name and "k_proj" not in name:
            weights[name.removesuffix("weight") + "bias"] = of(weights[name].shape[0])
    return {f"model.{name}": value for name, value in weights.items()}


def _save(weights: dict[str, numpy.typing.NDArray[numpy.float32]], path: Path) -> None:
    header, place = {}, 0
    for name, value in weights.items():
        header[name] = {"dtype": "F32", "shape": value.shape, "data_offsets": [place, place + value.nbytes]}
        place += value.nbytes
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(value.tobytes() for value in weights.values()))
