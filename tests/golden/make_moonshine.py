#!/usr/bin/env python3
"""Makes moonshine/: tiny random models of Moonshine and Moonshine Streaming, and the results of transformers. Its traps:

- A batch of clips with padding gives other results than each clip alone. Here every clip is alone.
- Without an attention mask the streaming encoder ignores its windows.
- The decoder of the streaming model adds its positions to the encoder's output in place, so each use needs a copy.
"""

import copy
import json
import shutil
from pathlib import Path

import maker
import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from tokenizers.models import BPE
from transformers import GenerationConfig, MoonshineConfig, MoonshineForConditionalGeneration
from transformers import MoonshineStreamingConfig, MoonshineStreamingForConditionalGeneration

from maker.random_checkpoint import random_values
from maker.tokenizers import llama_parts

FOLDER = Path(__file__).parent / "moonshine"
LENGTHS = [895, 6480, 19550]  # samples; the last row of the longest clip has one frame, which is incomplete
NEW_TOKENS = 16
END_FACTOR = 2  # a power of 2, so that float16 still holds the weights
LETTERS = "etaoinshrdlu,."


def vocabulary():
    """Returns the pieces of a Llama tokenizer: special tokens, bytes, letters, merges; and the merges."""
    merges = [("▁", "t"), ("h", "e"), ("▁t", "he"), ("i", "n"), ("▁", "a"), ("o", "n"), ("▁", "s"), ("e", "r")]
    pieces = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)] + ["▁", *LETTERS]
    return pieces + ["".join(pair) for pair in merges] + [f"<<ST_{i}>>" for i in range(4)], merges


PIECES, MERGES = vocabulary()


def write_tokenizer(folder):
    specials = [piece for piece in PIECES if piece in ("<unk>", "<s>", "</s>") or piece.startswith("<<")]
    vocab = {piece: i for i, piece in enumerate(PIECES) if not piece.startswith("<<")}
    tokenizer = Tokenizer(BPE(vocab, MERGES, unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer, tokenizer.decoder = llama_parts()
    tokenizer.add_special_tokens(specials)
    tokenizer.save(str(folder / "tokenizer.json"))
    names = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast"} | names)


def write_json(path, value):
    maker.write_json(path, value, indent=1, ensure_ascii=False)


COMMON = {"vocab_size": len(PIECES), "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 2, "decoder_start_token_id": 1}


def plain(heads, **changes):
    return MoonshineConfig(
        **COMMON, encoder_num_hidden_layers=2, decoder_num_hidden_layers=2, encoder_num_attention_heads=heads,
        decoder_num_attention_heads=heads, max_position_embeddings=40, **changes,
    )  # fmt: skip


def streaming(encoder, **changes):
    return MoonshineStreamingConfig(
        **COMMON, encoder_config={"num_key_value_heads": encoder["num_attention_heads"]} | encoder,
        num_hidden_layers=2, max_position_embeddings=70, num_key_value_heads=changes["num_attention_heads"], **changes,
    )  # fmt: skip


def rotary(share):
    return {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": share}


# Heads of 9 of which 8 turn, with padding; heads of 12 of which 7 give frequencies to 8; widths of the encoder, of its
# attention and of the decoder that differ, and heads of 16 of which 12 turn; equal widths, and heads of 8 of which 6 turn.
CASES = {
    "old_keys": plain(4, hidden_size=36, intermediate_size=72, pad_head_dim_to_multiple_of=8, rope_parameters=rotary(0.9)),
    "untied": plain(2, hidden_size=24, intermediate_size=40, tie_word_embeddings=False, rope_parameters=rotary(0.62)),
    "streaming": streaming(
        dict(hidden_size=28, intermediate_size=48, num_attention_heads=2, head_dim=8, num_hidden_layers=4,
             sliding_windows=[[5, 3], [4, 0], [1, 2], [6, 4]]),
        hidden_size=24, intermediate_size=36, num_attention_heads=2, head_dim=16, rope_parameters=rotary(0.8),
    ),
    "streaming_tied": streaming(
        dict(hidden_size=24, intermediate_size=48, num_attention_heads=3, num_hidden_layers=6),
        hidden_size=24, intermediate_size=36, num_attention_heads=3, tie_word_embeddings=True, rope_parameters=rotary(0.8),
    ),
}  # fmt: skip


def clips():
    """Returns tones that change, with noise."""
    random = np.random.default_rng(3)
    seconds = np.arange(max(LENGTHS)) / 16000
    sound = 0.3 * np.sin(2 * np.pi * (200 + 300 * seconds) * seconds) + 0.1 * np.sin(2 * np.pi * 1320 * seconds)
    sound = (sound * np.abs(np.sin(9 * seconds)) + random.normal(0, 0.02, len(seconds))).astype(np.float16)
    return [torch.from_numpy(sound[-length:].astype(np.float32)) for length in LENGTHS]


def make_model(name, config):
    """Returns a model whose weights float16 holds exactly."""
    is_streaming = config.model_type == "moonshine_streaming"
    model = (MoonshineStreamingForConditionalGeneration if is_streaming else MoonshineForConditionalGeneration)(config).eval()
    random = np.random.default_rng(sum(name.encode()))
    with torch.no_grad():
        for key, tensor in model.state_dict().items():
            shape = tuple(tensor.shape)
            values = random_values(key, shape, config.hidden_size, random)
            if key.endswith("gamma"):
                values -= 1
            if "conv" in key and len(shape) == 3:
                values = random.normal(0, 1.5 / np.sqrt(shape[1] * shape[2]), shape)
            if key.endswith("conv1.weight") and not is_streaming:
                values *= 3
            tensor.copy_(torch.from_numpy(np.asarray(values)).half())
        # A longer row makes the end token likely enough.
        model.get_output_embeddings().weight[2].mul_(END_FACTOR)
    ids = {name: value for name, value in COMMON.items() if name != "vocab_size"}
    model.generation_config = GenerationConfig(**ids, max_length=config.max_position_embeddings)
    return model


def inputs_of(clip, config):
    """Returns a clip as the processors of transformers prepare it."""
    padding = -len(clip) % 80 if config.model_type == "moonshine_streaming" else 0
    given = {"input_values": clip, "attention_mask": torch.ones(len(clip), dtype=torch.long)}
    return {name: torch.nn.functional.pad(values, (0, padding))[None] for name, values in given.items()}


@torch.no_grad()
def expected_of(model, number, clip, targets):
    inputs = inputs_of(clip, model.config)
    hidden = model.model.encoder(**inputs).last_hidden_state
    logits = model(**inputs, decoder_input_ids=targets).logits
    rows = {f"{number}/encoder_last_hidden_state": hidden[0].clone(), f"{number}/logits": logits[0]}
    # The limit of transformers' documentation: 6.5 tokens a second.
    limits = {"beams": NEW_TOKENS + 1, "transcript": max(int(len(clip) * 6.5 / 16000), 2)}
    for beams in (1, 5):
        for name, limit in limits.items():
            ids = model.generate(**inputs, num_beams=beams, max_length=limit)[0, 1:]
            rows[f"{number}/{name}_{beams}"] = ids.to(torch.int32)
    return rows


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    sounds = clips()
    targets = torch.from_numpy(np.random.default_rng(8).integers(3, len(PIECES), (1, 7)))
    targets[0, 0] = 1
    FOLDER.mkdir()
    save_file({str(i): sound for i, sound in enumerate(sounds)}, FOLDER / "clips.safetensors")
    for name, config in CASES.items():
        folder = FOLDER / name
        model = make_model(name, config)
        copy.deepcopy(model).half().save_pretrained(folder)  # a copy, since half() rounds rotary frequencies too
        write_tokenizer(folder)
        if name == "old_keys":
            stored = json.loads((folder / "config.json").read_text())
            stored.pop("rope_parameters")
            write_json(folder / "config.json", stored | {"partial_rotary_factor": 0.9, "rope_theta": 10000.0})
        expected = {"decoder_input_ids": targets[0].to(torch.int32)}
        for number, sound in enumerate(sounds):
            expected |= expected_of(model, number, sound, targets)
        save_file({key: value.contiguous() for key, value in expected.items()}, folder / "transformers.safetensors")
        print(name, [expected[f"{i}/beams_{b}"].tolist() for b in (1, 5) for i in range(len(sounds))])


main()
