"""BART and its relatives: the same tensor names, norms before or after, learned or computed positions."""

import torch

from maker.case import Case, Tap, classifier, family, norm_first_taps, norm_last_taps
from maker.publish import write_folder


def sizes(d_model, layers, heads, ffn, vocab_size, **more):
    """Returns config settings. `layers`, `heads` and `ffn` are pairs: encoder, decoder."""
    found = {"d_model": d_model, "vocab_size": vocab_size}
    for name, pair in {"layers": layers, "attention_heads": heads, "ffn_dim": ffn}.items():
        found |= {f"encoder_{name}": pair[0], f"decoder_{name}": pair[1]}
    return found | more


def taps(model):
    """Returns the taps. Stacks only differ in the number and places of their norms."""
    found = []
    for side, stack in ("encoder", model.model.encoder), ("decoder", model.model.decoder):
        norm_first = hasattr(stack, "layer_norm")
        found += embedding_taps(side, stack)
        for i, layer in enumerate(stack.layers):
            parts = sub_layers(layer)
            if norm_first:
                found += norm_first_taps(f"{side}.{i}", [(node, norm) for node, _, norm in parts], layer)
            else:
                found += norm_last_taps(f"{side}.{i}", parts)
        if norm_first:
            found.append(Tap(f"{side}.norm", stack.layer_norm))
    return found


def embedding_taps(side, stack):
    # Blenderbot-small's decoder has an embed_scale but does not use it.
    unscaled = type(stack).__name__ == "BlenderbotSmallDecoder"
    scale = 1.0 if unscaled else getattr(stack, "embed_scale", 1.0)
    embedding = Tap(f"{side}.embedding", stack.embed_tokens, scale=scale)
    positions = Tap(f"{side}.positional_encoding", stack.layers[0], at="input")
    if not hasattr(stack, "layernorm_embedding"):
        return [embedding, positions]
    norm = Tap(f"{side}.embedding_norm", stack.layernorm_embedding)
    if type(stack).__name__ == "BlenderbotSmallDecoder":  # the norm comes before the positions
        return [embedding, norm, positions]
    return [embedding, Tap(f"{side}.positional_encoding", stack.layernorm_embedding, at="input"), norm]


def sub_layers(layer):
    """Returns (node, module, norm) of each sub-layer, in order."""
    found = [("self_attention", layer.self_attn, layer.self_attn_layer_norm)]
    if hasattr(layer, "encoder_attn"):
        found.append(("cross_attention", layer.encoder_attn, layer.encoder_attn_layer_norm))
    return found + [("feed_forward", layer.fc2, layer.final_layer_norm)]


def generation(config):
    keys = ("bos_token_id", "pad_token_id", "eos_token_id", "decoder_start_token_id", "forced_eos_token_id")
    return {key: getattr(config, key, None) for key in keys} | {"max_length": 16}


OPTIONS = {"config": lambda given: {"max_position_embeddings": 48}, "generation": generation}
BART, PLBART, MBART, M2M_100 = (
    family(name, "ForConditionalGeneration", taps, **OPTIONS) for name in ("Bart", "PLBart", "MBart", "M2M100")
)
PEGASUS, BLENDERBOT, BLENDERBOT_SMALL = (
    family(name, "ForConditionalGeneration", taps, **OPTIONS, first_id=3)
    for name in ("Pegasus", "Blenderbot", "BlenderbotSmall")
)
PEGASUS.computed = ("embed_positions.weight",)
# The decoder of a classifier reads the source again, so there are no targets. Every source needs an end token.
BART_CLASSIFIER, MBART_CLASSIFIER = (
    classifier(name, "Sequence", taps, **OPTIONS, source_lengths=(5, 9, 2, 7)) for name in ("Bart", "MBart")
)


def publish_base_model(case, model, folder):
    """Writes the form of a model class without a head: names without `model.`, no logits bias."""
    names = {name.removeprefix("model."): tensor for name, tensor in model.model.state_dict().items()}
    for name in "encoder.embed_tokens.weight", "decoder.embed_tokens.weight":
        del names[name]
    settings = model.config.to_dict() | {"architectures": ["BartModel"]}
    return write_folder(case, folder, names, settings, model.generation_config)


def publish_old_bart(case, model, folder):
    """Writes the form of transformers 3 and 4: all tied names, unused tensors, ignored keys, generation keys in config.json."""
    tensors = model.state_dict() | {f"model.{side}.version": torch.tensor([3.0]) for side in ("encoder", "decoder")}
    settings = model.config.to_dict()
    for key in "dtype", "transformers_version", "tie_word_embeddings", "scale_embedding":
        settings.pop(key, None)
    settings |= {
        "add_bias_logits": False, "add_final_layer_norm": False, "extra_pos_embeddings": 2, "force_bos_token_to_be_generated": False,
        "normalize_before": False, "normalize_embedding": True, "static_position_embeddings": False, "length_penalty": 2.0,
        "max_length": 14, "min_length": 5, "num_beams": 4, "torch_dtype": "float32",
    }  # fmt: skip
    return write_folder(case, folder, tensors, settings)


def publish_without_positions(case, model, folder):
    """Writes the form of older versions, which did not store sinusoids."""
    tied = ("lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")
    names = {n: t for n, t in model.state_dict().items() if n not in tied and "embed_positions" not in n}
    return write_folder(case, folder, names, model.config.to_dict(), model.generation_config)


# The generation settings of published summarisation models.
SUMMARIZATION = {"forced_bos_token_id": 0, "min_length": 7, "no_repeat_ngram_size": 3, "max_length": 18}
SUMMARIZATION |= {"num_beams": 4, "length_penalty": 2.0, "early_stopping": True}
RELU = {"activation_function": "relu", "scale_embedding": True}
UNTIED = {"tie_word_embeddings": False}

CASES = {
    "bart": [
        Case("base", BART, sizes(12, (2, 1), (3, 2), (20, 31), 26)),
        Case("scale_embedding", BART, sizes(12, (1, 2), (4, 2), (24, 18), 23, scale_embedding=True)),
        Case("untied", BART, sizes(10, (1, 1), (5, 2), (21, 26), 24, activation_function="gelu_new", **UNTIED)),
        Case("summarization", BART, sizes(12, (1, 1), (2, 3), (18, 20), 25), SUMMARIZATION),
        Case("base_model", BART, sizes(12, (1, 1), (2, 2), (18, 20), 24), logits_bias=False, publish=publish_base_model),
        Case("old_names", BART, sizes(12, (1, 1), (3, 3), (20, 20), 23), {"max_length": 14, "min_length": 5},
             publish=publish_old_bart),
        Case("classifier", BART_CLASSIFIER, sizes(12, (1, 1), (3, 2), (14, 10), 23, num_labels=3)),
    ],
    "plbart": [
        # Embeddings are scaled by default. The target language starts the decoder.
        Case("base", PLBART, sizes(12, (1, 2), (2, 3), (19, 26), 25, decoder_start_token_id=22), {"decoder_start_token_id": 22}),
    ],
    "mbart": [
        # mBART-50: the end token starts the decoder, the target language is forced.
        Case("fifty", MBART, sizes(12, (2, 1), (3, 2), (20, 31), 26, decoder_start_token_id=2, **RELU),
             {"forced_bos_token_id": 21, "decoder_start_token_id": 2}),
        # mBART-cc25: the target language starts the decoder.
        Case("cc25", MBART, sizes(12, (1, 2), (2, 4), (25, 18), 25, decoder_start_token_id=22)),
        Case("untied", MBART, sizes(10, (1, 1), (5, 2), (21, 26), 24, decoder_start_token_id=2, **UNTIED, **RELU)),
        # The decoder starts with the last id of the source.
        Case("classifier", MBART_CLASSIFIER, sizes(10, (1, 1), (2, 5), (14, 10), 23, num_labels=2, decoder_start_token_id=22)),
    ],
    "m2m_100": [
        # An odd width: the last column of the sinusoid is zero. A pad id inside a source row has no position.
        Case("odd_width", M2M_100, sizes(15, (1, 2), (3, 5), (22, 27), 21), pad_inside_source=True, seed=1750),
        Case("forced_bos", M2M_100, sizes(12, (1, 2), (2, 4), (18, 26), 29, scale_embedding=False),
             {"forced_bos_token_id": 24, "max_length": 18}),
        Case("untied", M2M_100, sizes(10, (1, 1), (2, 5), (18, 21), 25, activation_function="silu", **UNTIED),
             pad_inside_source=True),
    ],
    "pegasus": [
        Case("stored_positions", PEGASUS, sizes(12, (1, 2), (3, 2), (20, 31), 24, **RELU)),
        Case("computed_positions", PEGASUS, sizes(15, (2, 1), (3, 5), (19, 26), 26, activation_function="gelu"),
             publish=publish_without_positions),
    ],
    "blenderbot": [
        Case("base", BLENDERBOT, sizes(12, (1, 2), (3, 2), (20, 31), 24)),
        Case("encoder_no_repeat", BLENDERBOT, sizes(12, (1, 1), (2, 4), (20, 27), 25, scale_embedding=True),
             {"encoder_no_repeat_ngram_size": 2, "no_repeat_ngram_size": 3, "min_length": 5}),
    ],
    "blenderbot_small": [
        Case("base", BLENDERBOT_SMALL, sizes(12, (1, 2), (3, 2), (20, 31), 24)),
        Case("scale_embedding", BLENDERBOT_SMALL, sizes(15, (2, 1), (3, 5), (19, 26), 26, scale_embedding=True)),
    ],
}
