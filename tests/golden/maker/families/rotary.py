"""Encoders with rotary positions: ModernBERT and EuroBERT (norm first), GTE and Nomic Embed (norm last)."""

import transformers

from maker.case import ENCODER_ONLY, Case, Family, Tap
from maker.families import bert


def modern_taps(model):
    found = [Tap("encoder.embedding", model.embeddings.tok_embeddings), Tap("encoder.embedding_norm", model.embeddings.norm)]
    last = "encoder.embedding_norm"
    for i, layer in enumerate(model.layers):
        for node, norm, function in (("self_attention", layer.attn_norm, layer.attn.Wo), ("feed_forward", layer.mlp_norm, layer.mlp.Wo)):
            if i > 0 or node == "feed_forward":
                found.append(Tap(f"encoder.{i}.{node}_norm", norm))
            found.append(Tap(f"encoder.{i}.{node}", function, plus=last))
            last = f"encoder.{i}.{node}"
    return [*found, Tap("encoder.norm", model.final_norm)]


def modern_head_taps(model):
    head = model.head
    return [*modern_taps(model.model), Tap("head.dense", head.norm, at="input"), Tap("head.norm", head.norm), Tap("head.output", model.classifier)]


def euro_taps(model):
    model = model.base_model
    found, last = [Tap("encoder.embedding", model.embed_tokens)], "encoder.embedding"
    for i, layer in enumerate(model.layers):
        for node, norm, function in (("self_attention", layer.input_layernorm, layer.self_attn.o_proj),
                                     ("feed_forward", layer.post_attention_layernorm, layer.mlp.down_proj)):  # fmt: skip
            found += [Tap(f"encoder.{i}.{node}_norm", norm), Tap(f"encoder.{i}.{node}", function, plus=last)]
            last = f"encoder.{i}.{node}"
    return [*found, Tap("encoder.norm", model.norm)]


def euro_head_taps(model):
    dense = [Tap("head.dense", model.classifier, at="input")] if hasattr(model, "dense") else []
    return [*euro_taps(model), *dense, Tap("head.output", model.classifier)]


def taps(model):
    embeddings = model.embeddings
    found = [Tap("encoder.embedding", embeddings.word_embeddings)]
    if getattr(embeddings, "token_type_embeddings", None) is not None:
        found.append(Tap("encoder.token_type_embedding", embeddings.token_type_embeddings, plus="encoder.embedding"))
    found.append(Tap("encoder.embedding_norm", embeddings.LayerNorm))
    for i, layer in enumerate(model.layers):
        found += [
            Tap(f"encoder.{i}.self_attention", layer.self_attn.o_proj),
            Tap(f"encoder.{i}.self_attention_norm", layer.post_attention_layernorm),
            Tap(f"encoder.{i}.feed_forward", layer.mlp.down_proj),
            Tap(f"encoder.{i}.feed_forward_norm", layer.post_mlp_layernorm),
        ]
    return found


def head_taps(model):
    of_texts = "SequenceClassification" in type(model).__name__
    dense = [Tap("head.dense", model.classifier, at="input")] if of_texts else []
    return [*taps(model.base_model), *dense, Tap("head.output", model.classifier)]


def family(name, task="Model", of=taps, **more):
    base = "Model" if task == "Model" else task
    model_class = getattr(transformers, name + base)
    return Family(model_class, getattr(transformers, name + "Config"), of, kind=ENCODER_ONLY, unused=("pooler.",),
                  config=lambda given: {"pad_token_id": 0, "bos_token_id": None, "eos_token_id": None}, **more)  # fmt: skip


def sizes(*numbers, **more):
    return bert.sizes(*numbers, **{"max_position_embeddings": 64} | more)


def modern_cases():
    special = {"cls_token_id": None, "sep_token_id": None}
    of_texts, of_tokens = "ForSequenceClassification", "ForTokenClassification"
    rope = {"full_attention": {"rope_type": "default", "rope_theta": 500.0}, "sliding_attention": {"rope_type": "default", "rope_theta": 90.0}}
    biases = {"attention_bias": True, "mlp_bias": True, "norm_bias": True, "classifier_bias": True}
    long = (30, 2, 17)
    return [
        Case("base", family("ModernBert", of=modern_taps), sizes(12, 4, 3, 10, 26, local_attention=8, rope_parameters=rope, **special),
             source_lengths=long),
        Case("biases", family("ModernBert", of=modern_taps), sizes(8, 2, 2, 9, 24, local_attention=6, norm_eps=1e-3, **special, **biases)),
        Case("classifier", family("ModernBert", of_texts, modern_head_taps), sizes(12, 2, 3, 10, 26, num_labels=1, **special)),
        Case("classifier_mean", family("ModernBert", of_texts, modern_head_taps),
             sizes(12, 1, 3, 10, 26, num_labels=3, classifier_pooling="mean", classifier_activation="silu", **special, **biases)),
        Case("tagger", family("ModernBert", of_tokens, modern_head_taps), sizes(12, 1, 3, 10, 26, num_labels=4, **special)),
    ]


def gte_cases():
    rope = {"rope_parameters": {"rope_type": "default", "rope_theta": 800.0}}
    return [
        Case("base", family("Gte"), sizes(12, 2, 3, 10, 26, type_vocab_size=2, **rope)),
        Case("classifier", family("Gte", "ForSequenceClassification", head_taps), sizes(12, 1, 3, 10, 26, num_labels=1, **rope)),
        Case("tagger", family("Gte", "ForTokenClassification", head_taps), sizes(12, 1, 3, 10, 26, num_labels=3, **rope)),
    ]


def nomic_cases():
    return [
        Case("base", family("NomicBert"), sizes(12, 2, 3, 10, 26)),
        # Longer than the model was trained for. Texts of one length, since the reference's base depends on the longest of the batch.
        Case("long", family("NomicBert"),
             sizes(12, 1, 2, 10, 26, rope_parameters={"rope_type": "dynamic", "factor": 3.0, "rope_theta": 1000.0}) | {"max_position_embeddings": 9},
             source_lengths=(14, 14)),
        Case("classifier", family("NomicBert", "ForSequenceClassification", head_taps), sizes(12, 1, 3, 10, 26, num_labels=2)),
    ]


def euro_cases():
    of_texts, of_tokens = "ForSequenceClassification", "ForTokenClassification"
    rope = {"rope_parameters": {"rope_type": "default", "rope_theta": 700.0}}
    return [
        Case("base", family("EuroBert", of=euro_taps), sizes(16, 2, 4, 10, 26, num_key_value_heads=2, **rope)),
        Case("head_dim", family("EuroBert", of=euro_taps),
             sizes(12, 1, 3, 10, 26, num_key_value_heads=1, head_dim=6, attention_bias=True, mlp_bias=True, rms_norm_eps=1e-3)),
        Case("classifier", family("EuroBert", of_texts, euro_head_taps), sizes(12, 1, 3, 10, 26, num_key_value_heads=3, num_labels=1)),
        Case("classifier_first", family("EuroBert", of_texts, euro_head_taps),
             sizes(12, 1, 2, 10, 26, num_key_value_heads=1, num_labels=3, classifier_pooling="bos", **rope)),
        Case("classifier_mean", family("EuroBert", of_texts, euro_head_taps),
             sizes(12, 1, 2, 10, 26, num_key_value_heads=1, num_labels=2, classifier_pooling="mean", **rope)),
        Case("tagger", family("EuroBert", of_tokens, euro_head_taps), sizes(12, 1, 2, 10, 26, num_key_value_heads=1, num_labels=4)),
    ]
