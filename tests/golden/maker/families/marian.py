"""Marian (OPUS-MT): norm last, sinusoidal positions. The pad id is the last id and starts the decoder."""

import math
from functools import partial

import torch

from maker.case import Case, family
from maker.families.bart import sizes, taps
from maker.marian_text import MarianTokenizers
from maker.publish import publish, write_folder

EOS = 0


def config(given):
    pad = given["vocab_size"] - 1
    return {
        "max_position_embeddings": 64, "pad_token_id": pad, "decoder_start_token_id": pad, "eos_token_id": EOS,
        "forced_eos_token_id": EOS, "init_std": round(1 / math.sqrt(given["d_model"]), 2),
    }  # fmt: skip


def generation(config):
    return {
        "pad_token_id": config.pad_token_id, "decoder_start_token_id": config.decoder_start_token_id, "eos_token_id": EOS,
        "forced_eos_token_id": config.forced_eos_token_id, "bad_words_ids": [[config.pad_token_id]], "max_length": 16,
    }  # fmt: skip


MARIAN = family("Marian", "MTModel", taps, config=config, generation=generation, source_lengths=(6, 13, 1, 9),
                target_lengths=(5, 1, 9, 4), first_id=1, pad_is_last=True)  # fmt: skip


@torch.no_grad()
def zero_start(model, random):
    """Sets the start token's embedding to zero. Marian itself has no pad id; its decoder starts from a zero embedding."""
    model.model.decoder.embed_tokens.weight[model.config.decoder_start_token_id] = 0


@torch.no_grad()
def hide_start(oracle):
    """Removes the start token from the softmax: Marian's own files have no logit for it."""
    oracle.final_logits_bias[0, oracle.config.decoder_start_token_id] = -40


def publish_old(case, model, folder):
    """Writes the form of transformers 4: other names of the tied tensors, position tables, generation keys in config.json."""
    tensors = model.state_dict()
    del tensors["model.shared.weight"]
    assert {"lm_head.weight", "model.encoder.embed_tokens.weight", "model.encoder.embed_positions.weight"} <= set(tensors)
    config = model.config
    kept = (
        "activation_function d_model decoder_attention_heads decoder_ffn_dim decoder_layers decoder_start_token_id "
        "encoder_attention_heads encoder_ffn_dim encoder_layers eos_token_id forced_eos_token_id init_std "
        "max_position_embeddings pad_token_id scale_embedding vocab_size"
    ).split()
    generation = model.generation_config.to_diff_dict()
    settings = {key: getattr(config, key) for key in kept}
    settings |= {key: generation[key] for key in ("bad_words_ids", "max_length", "num_beams")}
    settings |= {
        "_name_or_path": "", "_num_labels": 3, "activation_dropout": 0.0, "add_bias_logits": False, "add_final_layer_norm": False,
        "architectures": ["MarianMTModel"], "attention_dropout": 0.0, "bos_token_id": 0, "classif_dropout": 0.0,
        "decoder_layerdrop": 0.0, "decoder_vocab_size": config.vocab_size, "dropout": 0.1, "encoder_layerdrop": 0.0,
        "extra_pos_embeddings": config.vocab_size, "force_bos_token_to_be_generated": False,
        "id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}, "is_encoder_decoder": True,
        "label2id": {"LABEL_0": 0, "LABEL_1": 1, "LABEL_2": 2}, "model_type": "marian", "normalize_before": False,
        "normalize_embedding": False, "num_hidden_layers": config.encoder_layers, "share_encoder_decoder_embeddings": True,
        "static_position_embeddings": True, "torch_dtype": "float32", "transformers_version": "4.22.0.dev0", "use_cache": True,
    }  # fmt: skip
    return write_folder(case, folder, tensors, settings)


def scaled(activation, *numbers, **more):
    return sizes(*numbers, activation_function=activation, scale_embedding=True, **more)


def two_vocabularies(size):
    return {"share_encoder_decoder_embeddings": False, "decoder_vocab_size": size}


def text_case(name, d_model, ffn, separate, num_beams):
    tokenizer = MarianTokenizers(separate)
    source_size, target_size = tokenizer.sizes()
    settings = scaled("swish", d_model, (1, 1), (2, 2), ffn, source_size)
    if separate:
        settings |= two_vocabularies(target_size)
    return Case(name, MARIAN, settings, {"max_length": 24, "num_beams": num_beams}, tokenizer=tokenizer)


CASES = {
    "marian": [
        # The structure of published models, but small. The pad id is also an ordinary source token here.
        Case("shared_swish", MARIAN, scaled("swish", 16, (2, 2), (4, 4), (24, 24), 29), pad_inside_source=True),
        Case("separate_vocabulary", MARIAN, scaled("swish", 20, (1, 2), (4, 5), (28, 36), 23, **two_vocabularies(31))),
        # Sizes without common factors: heads of 5 and 3 columns, sinusoids of an odd width.
        Case("odd_sizes", MARIAN, scaled("relu", 15, (3, 1), (3, 5), (37, 29), 37) | {"scale_embedding": False}),
        Case("gelu_sharded", MARIAN, scaled("gelu", 24, (1, 1), (3, 6), (50, 40), 41) | {"scale_embedding": False},
             {"min_new_tokens": 5}, publish=partial(publish, max_shard_size="8KB")),
        # generation_config.json has no maximum length, so the default of 20 new ids applies.
        Case("gelu_new_float16", MARIAN, scaled("gelu_new", 16, (1, 2), (2, 4), (40, 24), 30), {"max_length": None},
             dtype=torch.float16),
        Case("silu_bfloat16", MARIAN, scaled("silu", 12, (2, 1), (2, 3), (32, 20), 26),
             {"max_length": None, "max_new_tokens": 11}, dtype=torch.bfloat16),
        # Untied tables, and no forced end token: rows that reach max_length have no end token.
        Case("untied", MARIAN,
             scaled("swish", 16, (1, 1), (4, 2), (24, 32), 33, tie_word_embeddings=False, forced_eos_token_id=None),
             {"max_length": 14}),
        Case("old_names", MARIAN, scaled("swish", 16, (1, 1), (4, 4), (32, 32), 28), {"max_length": 18, "num_beams": 4},
             publish=publish_old),
        Case("forced_bos", MARIAN, scaled("relu", 16, (1, 2), (2, 4), (24, 24), 31),
             {"forced_bos_token_id": 4, "min_length": 6, "eos_token_id": [EOS, 5], "max_length": 20}, bad_phrases=True),
        text_case("text", 16, (32, 32), separate=False, num_beams=4),
        text_case("text_separate", 12, (24, 24), separate=True, num_beams=6),
    ],
}
