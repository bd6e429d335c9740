"""T5, mT5 and UMT5: RMS norm first, relative position bias, no other biases, unscaled scores."""

import math

import torch

from maker.case import Case, Tap, classifier, family
from maker.publish import write_folder

TIED = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight")


def taps(model):
    model, found = model.base_model, []
    for side in ("encoder", "decoder") if hasattr(model, "decoder") else ("encoder",):
        stack = getattr(model, side)
        found.append(Tap(f"{side}.embedding", stack.embed_tokens))
        for i, block in enumerate(stack.block):
            nodes = ["self_attention"] + ["cross_attention"] * (len(block.layer) == 3) + ["feed_forward"]
            for node, layer in zip(nodes, block.layer):
                found += [Tap(f"{side}.{i}.{node}_norm", layer.layer_norm), Tap(f"{side}.{i}.{node}", layer)]
        found.append(Tap(f"{side}.norm", stack.final_layer_norm))
    return found


def generation(config):
    return {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0, "max_length": 16}


OPTIONS = {"config": lambda given: {"decoder_start_token_id": 0}, "first_id": 3}
# The cache of version 5.23 takes its number of layers from the encoder. It fails if the decoder has more.
T5, MT5, UMT5 = (
    family(name, "ForConditionalGeneration", taps, **OPTIONS, generation=generation, cached=False) for name in ("T5", "MT5", "UMT5")
)
# The decoder of a classifier of texts reads the source again. Every source needs an end token.
T5_CLASSIFIER, T5_TAGGER, UMT5_CLASSIFIER = (
    classifier(name, task, taps, **OPTIONS, source_lengths=(5, 9, 2, 7))
    for name, task in (("T5", "Sequence"), ("T5", "Token"), ("UMT5", "Sequence"))
)


def sizes(d_model, layers, heads, d_kv, d_ff, vocab_size, **more):
    """Returns config settings. `layers` is a pair: encoder, decoder."""
    return {"d_model": d_model, "num_layers": layers[0], "num_decoder_layers": layers[1], "num_heads": heads, "d_kv": d_kv,
            "d_ff": d_ff, "vocab_size": vocab_size} | more  # fmt: skip


def own_lm_head(model, random):
    """Gives the model an lm_head of its own, as in version 1.1. No current config setting does this."""
    weight = random.normal(0, 1.5 / math.sqrt(model.config.d_model), model.lm_head.weight.shape)
    model.lm_head.weight = torch.nn.Parameter(torch.from_numpy(weight).float())


def as_published(config, tied):
    """Returns config.json in the form of published checkpoints, without the keys that transformers 5 adds."""
    settings = config.to_dict() | {"tie_word_embeddings": tied, "torch_dtype": "float32"}
    for key in "scale_decoder_outputs", "dtype", "transformers_version", "is_gated_act", "dense_act_fn", "is_decoder":
        settings.pop(key, None)
    return settings


def publish_v1_1(case, model, folder):
    tensors = {name: tensor for name, tensor in model.state_dict().items() if name not in TIED}
    return write_folder(case, folder, tensors, as_published(model.config, tied=False), model.generation_config)


def publish_v1_0(case, model, folder):
    """Writes the form of old versions: all tied names, an unused bias in the cross-attention, and no keys for the maximum
    distance and for gating."""
    tensors = model.state_dict()
    bias = "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
    tensors["decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"] = tensors[bias] * 3
    settings = as_published(model.config, tied=True)
    for key in "tie_word_embeddings", "relative_attention_max_distance", "feed_forward_proj", "num_decoder_layers":
        del settings[key]
    settings |= {"n_positions": 512, "output_past": True, "task_specific_params": {"summarization": {"prefix": "summarize: "}}}
    settings["max_length"] = model.generation_config.max_length
    return write_folder(case, folder, tensors, settings)


V1_1 = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
FEW_BUCKETS = {"relative_attention_num_buckets": 8, "relative_attention_max_distance": 10}

CASES = {
    "t5": [
        # Version 1.0 as transformers 5 saves it: relu, tied, logits scaled. The heads together are wider than the model.
        Case("v1_0", T5, sizes(12, (2, 1), 3, 5, 27, 26)),
        Case("v1_0_published", T5, sizes(10, (2, 2), 2, 4, 22, 24), publish=publish_v1_0),
        # Version 1.1 and FLAN: gated, own lm_head, logits not scaled.
        Case("v1_1", T5, sizes(12, (1, 2), 4, 4, 21, 25, **V1_1), adjust=own_lm_head, publish=publish_v1_1),
        # The same, saved by transformers 5: config.json says tied, and scale_decoder_outputs says whether logits are scaled.
        Case("v1_1_saved_again", T5, sizes(10, (1, 1), 3, 4, 18, 24, **V1_1), adjust=own_lm_head),
        # Every bucket is used, and most distances are beyond the last bucket.
        Case("few_buckets", T5, sizes(9, (1, 1), 2, 3, 13, 23, feed_forward_proj="gated-silu", **FEW_BUCKETS), {"max_length": 24},
             source_lengths=(5, 33, 1, 12)),
        # Distances beyond the usual 128.
        Case("long_source", T5, sizes(8, (1, 1), 2, 3, 15, 23), source_lengths=(5, 150, 1, 40), nodes=False),
        # ByT5: a deep encoder, a shallow decoder.
        Case("byt5", T5, sizes(8, (4, 1), 3, 3, 17, 24, **V1_1), adjust=own_lm_head, publish=publish_v1_1),
        Case("classifier", T5_CLASSIFIER, sizes(8, (1, 2), 3, 5, 11, 23, num_labels=3)),
        Case("tagger", T5_TAGGER, sizes(10, (2, 1), 3, 4, 17, 23, num_labels=4)),
    ],
    "mt5": [
        Case("published", MT5, sizes(12, (1, 2), 3, 5, 19, 25), adjust=own_lm_head, publish=publish_v1_1),
        # Tied, but the logits are not scaled.
        Case("tied", MT5, sizes(10, (2, 1), 2, 6, 21, 24)),
    ],
    # Every layer has its own position bias. The logits are always scaled, tied or not.
    "umt5": [
        Case("published", UMT5, sizes(12, (2, 2), 3, 5, 19, 25), adjust=own_lm_head, publish=publish_v1_1),
        Case("classifier", UMT5_CLASSIFIER, sizes(8, (1, 1), 2, 5, 11, 23, num_labels=2)),
        Case("tied", UMT5, sizes(10, (1, 2), 2, 6, 21, 24)),
    ],
}
