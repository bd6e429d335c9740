#!/usr/bin/env python3
"""Makes whisper_formats/: one tiny random Whisper model in every format in which Whisper models are published, and the results
of transformers with the weights of each file.
"""

import shutil
import tempfile
from pathlib import Path

import maker
import ctranslate2
import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers.pre_tokenizers import ByteLevel
from transformers import GenerationConfig, WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration
from transformers.models.whisper.tokenization_whisper import LANGUAGES

from make_tokenizers_native import CORPUS, whisper_tokens
from maker.formats.ctranslate2 import Converter, Vocabulary, read_model, set_layers, set_linears, set_norm
from maker.random_checkpoint import random_values
from maker.tokenizers import learn_merges, merges_file
from maker.whisper_transcripts import write_transcripts

FOLDER = Path(__file__).parent / "whisper_formats"
WIDTH, BANDS, POSITIONS, CONTEXT, MERGES, TIMES = 32, 16, 20, 24, 30, 21


def byte_alphabet():
    """Maps the characters of byte-level vocabularies, in GPT-2's order, to their bytes."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {chr(c): byte for c, byte in zip(shown + [256 + i for i in range(len(hidden))], shown + hidden)}


def make_vocabulary():
    """Returns the pieces of text, their merges, the special tokens, and the timestamps. The last piece is empty, as in
    multilingual models."""
    words = [list(word) for line in CORPUS for word, _ in ByteLevel(add_prefix_space=False).pre_tokenize_str(line)]
    merges = learn_merges(words, MERGES)
    pieces = [*byte_alphabet(), *("".join(merge) for merge in merges), ""]
    specials, times = whisper_tokens(list(LANGUAGES)[:99], TIMES)
    return pieces, merges, specials, times


PIECES, MERGE_LIST, SPECIALS, TIME_TOKENS = make_vocabulary()
TOKENS = PIECES + SPECIALS + TIME_TOKENS
IDS = {token: i for i, token in enumerate(TOKENS)}
TEXTS = [bytes(byte_alphabet()[c] for c in piece) for piece in PIECES]
END, START = IDS["<|endoftext|>"], IDS["<|startoftranscript|>"]


def write_json(path, value):
    maker.write_json(path, value, indent=None, ensure_ascii=False)


def write_tokenizer(folder):
    write_json(folder / "vocab.json", {token: IDS[token] for token in [*PIECES, "<|endoftext|>"]})
    (folder / "merges.txt").write_text(merges_file(MERGE_LIST), encoding="utf-8")
    write_json(folder / "added_tokens.json", {token: IDS[token] for token in [*SPECIALS[1:], *TIME_TOKENS]})
    named = {f"{role}_token": "<|endoftext|>" for role in ("bos", "eos", "unk", "pad")}
    write_json(folder / "special_tokens_map.json", named | {"additional_special_tokens": SPECIALS})
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "WhisperTokenizer", "add_prefix_space": False} | named)


def make_config():
    return WhisperConfig(
        vocab_size=len(TOKENS), num_mel_bins=BANDS, d_model=WIDTH, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=4 * WIDTH, decoder_ffn_dim=4 * WIDTH,
        max_source_positions=POSITIONS, max_target_positions=CONTEXT, pad_token_id=END, bos_token_id=END, eos_token_id=END,
        decoder_start_token_id=START, begin_suppress_tokens=None, suppress_tokens=None,
    )  # fmt: skip


def make_model():
    """Returns a model whose weights float16 holds exactly."""
    model = WhisperForConditionalGeneration(make_config()).eval()
    random = np.random.default_rng(5)
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            tensor.copy_(torch.from_numpy(random_values(name, tuple(tensor.shape), WIDTH, random)).half())
    model.generation_config = GenerationConfig(
        bos_token_id=END, eos_token_id=END, pad_token_id=END, decoder_start_token_id=START, max_length=CONTEXT
    )
    return model


def openai_name(name):
    """Returns openai/whisper's name of a tensor. proj_out has none: it is the embedding."""
    name = name.removeprefix("model.").replace(".layers.", ".blocks.").replace(".embed_tokens.", ".token_embedding.")
    for old, new in {
        "embed_positions.weight": "positional_embedding", "encoder.layer_norm.": "encoder.ln_post.",
        "decoder.layer_norm.": "decoder.ln.", "self_attn_layer_norm": "attn_ln", "encoder_attn_layer_norm": "cross_attn_ln",
        "final_layer_norm": "mlp_ln", "self_attn": "attn", "encoder_attn": "cross_attn", "q_proj": "query", "k_proj": "key",
        "v_proj": "value", "out_proj": "out", "fc1": "mlp.0", "fc2": "mlp.2",
    }.items():  # fmt: skip
        name = name.replace(old, new)
    return name


@torch.no_grad()
def from_ctranslate2(path):
    """Returns the model with the weights of a model.bin."""
    found = read_model(path)
    model = WhisperForConditionalGeneration(make_config()).eval()
    for side, stack in ("encoder", model.model.encoder), ("decoder", model.model.decoder):
        set_layers(found, side, stack)
        set_norm(found, f"{side}/layer_norm", stack.layer_norm)
    for name in "conv1", "conv2":
        set_linears(found, f"encoder/{name}", getattr(model.model.encoder, name))
    model.model.decoder.embed_tokens.weight.copy_(torch.from_numpy(found["decoder/embeddings/weight"]))
    return model


class WhisperVocabulary(Vocabulary):
    unk_token = bos_token = eos_token = "<|endoftext|>"
    unk_token_id = END
    additional_special_tokens = SPECIALS


def write_hugging_face(model, folder):
    folder.mkdir()
    model.half().save_pretrained(folder)
    model.float()
    write_tokenizer(folder)
    extractor = WhisperFeatureExtractor(feature_size=BANDS, chunk_length=2 * POSITIONS // 100 or 1)
    extractor.save_pretrained(folder)


def write_ctranslate2(model, folder, quantization):
    with tempfile.TemporaryDirectory() as temporary:
        model.save_pretrained(temporary)
        Converter(temporary, WhisperVocabulary(TOKENS)).convert(str(folder), quantization=quantization)
    return from_ctranslate2(folder / "model.bin")


@torch.no_grad()
def expected(model, features, target_ids):
    output = model(input_features=features, decoder_input_ids=target_ids.long(), use_cache=False)
    return {"encoder_last_hidden_state": output.encoder_last_hidden_state, "logits": output.logits}


def check_by_running(folder, features, values):
    """Checks that CTranslate2 in float32 computes the encoder output of the oracle."""
    model = ctranslate2.models.Whisper(str(folder), device="cpu", compute_type="float32", intra_threads=1)
    found = np.array(model.encode(ctranslate2.StorageView.from_array(features.numpy())))
    worst = np.abs(found - values["encoder_last_hidden_state"].numpy()).max()
    assert worst < 1e-3, f"CTranslate2 computes encoder states that differ by {worst}"


def main():
    maker.prepare()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    random = np.random.default_rng(3)
    features = torch.from_numpy(random.normal(0, 1, (2, BANDS, 2 * POSITIONS)).astype(np.float32))
    target_ids = torch.from_numpy(random.integers(0, len(TOKENS), (2, 6)).astype(np.int32))
    target_ids[:, 0] = START

    model = make_model()
    write_hugging_face(model, FOLDER / "hugging_face")
    oracles = {"float16": model}
    (FOLDER / "ctranslate2").mkdir()
    for quantization in ("float16", "int8"):
        oracle = write_ctranslate2(model, FOLDER / "ctranslate2" / quantization, quantization)
        if quantization == "int8":
            oracles[quantization] = oracle
        check_by_running(FOLDER / "ctranslate2" / quantization, features, expected(oracle, features, target_ids))

    values = {"input_features": features, "decoder_input_ids": target_ids}
    for name, oracle in oracles.items():
        values |= {f"{name}/{key}": value.contiguous() for key, value in expected(oracle, features, target_ids).items()}
        off = (values[f"{name}/logits"] - values["float16/logits"]).abs().max().item()
        print(f"{name:8} logits up to {values[f'{name}/logits'].abs().max().item():.2f}, off by {off:.3f}")
    save_file(values, FOLDER / "expected.safetensors")
    weights = {openai_name(k): v for k, v in model.state_dict().items() if k != "proj_out.weight"}
    write_transcripts(FOLDER / "openai.json", model.config, weights, TEXTS, IDS)
    for path in sorted(path for path in FOLDER.rglob("*") if path.is_file()):
        path.chmod(0o644)
        print(f"{path.stat().st_size // 1024:4} KiB  {path.relative_to(FOLDER)}")


if __name__ == "__main__":
    main()
