"""Encoders with rotary positions: ModernBERT and EuroBERT (norm first), GTE and Nomic Embed (norm last)."""

import torch

from maker.case import ENCODER_ONLY, Case, Tap, classifier, family, norm_first_taps, norm_last_taps
from maker.families import bert


def modern_taps(model):
    model = model.base_model
    found = [Tap("encoder.embedding", model.embeddings.tok_embeddings), Tap("encoder.embedding_norm", model.embeddings.norm)]
    for i, layer in enumerate(model.layers):
        found += norm_first_taps(f"encoder.{i}", [("self_attention", layer.attn_norm), ("feed_forward", layer.mlp_norm)], layer)
    found = [tap for tap in found if not isinstance(tap.module, torch.nn.Identity)]  # the first layer has no norm of its own
    return [*found, Tap("encoder.norm", model.final_norm)]


def modern_head_taps(model):
    head = model.head
    dense = [Tap("head.dense", head.norm, at="input"), Tap("head.norm", head.norm)]
    return [*modern_taps(model), *dense, Tap("head.output", model.classifier)]


def euro_taps(model):
    model = model.base_model
    found = [Tap("encoder.embedding", model.embed_tokens)]
    for i, layer in enumerate(model.layers):
        norms = [("self_attention", layer.input_layernorm), ("feed_forward", layer.post_attention_layernorm)]
        found += norm_first_taps(f"encoder.{i}", norms, layer)
    return [*found, Tap("encoder.norm", model.norm)]


def taps(model):
    model = model.base_model
    embeddings = model.embeddings
    found = [Tap("encoder.embedding", embeddings.word_embeddings)]
    if getattr(embeddings, "token_type_embeddings", None) is not None:
        found.append(Tap("encoder.token_type_embedding", embeddings.token_type_embeddings, plus="encoder.embedding"))
    found.append(Tap("encoder.embedding_norm", embeddings.LayerNorm))
    for i, layer in enumerate(model.layers):
        attention = "self_attention", layer.self_attn.o_proj, layer.post_attention_layernorm
        found += norm_last_taps(f"encoder.{i}", [attention, ("feed_forward", layer.mlp.down_proj, layer.post_mlp_layernorm)])
    return found


OPTIONS = {"config": lambda given: {"pad_token_id": 0, "bos_token_id": None, "eos_token_id": None}, "unused": ("pooler.",)}
MODERNBERT = family("ModernBert", "Model", modern_taps, kind=ENCODER_ONLY, **OPTIONS)
MODERNBERT_TEXTS, MODERNBERT_TOKENS = (
    family("ModernBert", f"For{task}Classification", modern_head_taps, kind=ENCODER_ONLY, **OPTIONS)
    for task in ("Sequence", "Token")
)


def with_classifiers(name, of):
    """Returns the families without a head, of classifiers of texts and of classifiers of tokens."""
    heads = [classifier(name, task, of, **OPTIONS) for task in ("Sequence", "Token")]
    return family(name, "Model", of, kind=ENCODER_ONLY, **OPTIONS), *heads


GTE, GTE_TEXTS, GTE_TOKENS = with_classifiers("Gte", taps)
NOMIC_BERT, NOMIC_BERT_TEXTS, _ = with_classifiers("NomicBert", taps)
EUROBERT, EUROBERT_TEXTS, EUROBERT_TOKENS = with_classifiers("EuroBert", euro_taps)


def sizes(*numbers, **more):
    return bert.sizes(*numbers, **{"max_position_embeddings": 64} | more)


def rope(theta, **more):
    return {"rope_type": "default", "rope_theta": theta} | more


SPECIAL = {"cls_token_id": None, "sep_token_id": None}
BIASES = {"attention_bias": True, "mlp_bias": True, "norm_bias": True, "classifier_bias": True}
MODERN_ROPE = {"rope_parameters": {"full_attention": rope(500.0), "sliding_attention": rope(90.0)}}
GTE_ROPE, EURO_ROPE = {"rope_parameters": rope(800.0)}, {"rope_parameters": rope(700.0)}
DYNAMIC_ROPE = {"rope_parameters": rope(1000.0, rope_type="dynamic", factor=3.0)}

CASES = {
    "modernbert": [
        Case("base", MODERNBERT, sizes(12, 4, 3, 10, 26, local_attention=8, **MODERN_ROPE, **SPECIAL), source_lengths=(30, 2, 17)),
        Case("biases", MODERNBERT, sizes(8, 2, 2, 9, 24, local_attention=6, norm_eps=1e-3, **SPECIAL, **BIASES)),
        Case("classifier", MODERNBERT_TEXTS, sizes(12, 2, 3, 10, 26, num_labels=1, **SPECIAL)),
        Case("classifier_mean", MODERNBERT_TEXTS,
             sizes(12, 1, 3, 10, 26, num_labels=3, classifier_pooling="mean", classifier_activation="silu", **SPECIAL, **BIASES)),
        Case("tagger", MODERNBERT_TOKENS, sizes(12, 1, 3, 10, 26, num_labels=4, **SPECIAL)),
    ],
    "gte": [
        Case("base", GTE, sizes(12, 2, 3, 10, 26, type_vocab_size=2, **GTE_ROPE)),
        Case("classifier", GTE_TEXTS, sizes(12, 1, 3, 10, 26, num_labels=1, **GTE_ROPE)),
        Case("tagger", GTE_TOKENS, sizes(12, 1, 3, 10, 26, num_labels=3, **GTE_ROPE)),
    ],
    "nomic_bert": [
        Case("base", NOMIC_BERT, sizes(12, 2, 3, 10, 26)),
        # Longer than the model was trained for. Texts of one length, since the reference's base depends on the longest of the batch.
        Case("long", NOMIC_BERT, sizes(12, 1, 2, 10, 26, max_position_embeddings=9, **DYNAMIC_ROPE), source_lengths=(14, 14)),
        Case("classifier", NOMIC_BERT_TEXTS, sizes(12, 1, 3, 10, 26, num_labels=2)),
    ],
    "eurobert": [
        Case("base", EUROBERT, sizes(16, 2, 4, 10, 26, num_key_value_heads=2, **EURO_ROPE)),
        Case("head_dim", EUROBERT,
             sizes(12, 1, 3, 10, 26, num_key_value_heads=1, head_dim=6, attention_bias=True, mlp_bias=True, rms_norm_eps=1e-3)),
        Case("classifier", EUROBERT_TEXTS, sizes(12, 1, 3, 10, 26, num_key_value_heads=3, num_labels=1)),
        Case("classifier_first", EUROBERT_TEXTS,
             sizes(12, 1, 2, 10, 26, num_key_value_heads=1, num_labels=3, classifier_pooling="bos", **EURO_ROPE)),
        Case("classifier_mean", EUROBERT_TEXTS,
             sizes(12, 1, 2, 10, 26, num_key_value_heads=1, num_labels=2, classifier_pooling="mean", **EURO_ROPE)),
        Case("tagger", EUROBERT_TOKENS, sizes(12, 1, 2, 10, 26, num_key_value_heads=1, num_labels=4)),
    ],
}
