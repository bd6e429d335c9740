"""Encoder-only families: BERT, RoBERTa, XLM-R, CamemBERT, DistilBERT, ELECTRA, ALBERT, MPNet and DeBERTa. Norm last, with a norm after
the embeddings."""

import torch
import transformers

from maker.case import ENCODER_ONLY, Case, Family, Tap
from maker.publish import write_folder


def taps(model):
    embeddings = model.embeddings
    found = [Tap("encoder.embedding", embeddings.word_embeddings), Tap("encoder.embedding_norm", embeddings.LayerNorm)]
    if getattr(embeddings, "position_embeddings", None) is not None:
        found.insert(1, Tap("encoder.positional_encoding", embeddings.LayerNorm, at="input"))
    if getattr(embeddings, "token_type_embeddings", None) is not None:
        found.insert(1, Tap("encoder.token_type_embedding", embeddings.token_type_embeddings, plus="encoder.embedding"))
    if hasattr(model, "embeddings_project"):
        found.append(Tap("encoder.embedding_projection", model.embeddings_project))
    if hasattr(getattr(model, "encoder", None), "embedding_hidden_mapping_in"):
        found.append(Tap("encoder.embedding_projection", model.encoder.embedding_hidden_mapping_in))
    layers = layers_of(model)
    for i, layer in enumerate(layers):
        call = layers[:i].count(layer)
        for node, function, norm in sub_layers(layer):
            found += [Tap(f"encoder.{i}.{node}", function, call=call), Tap(f"encoder.{i}.{node}_norm", norm, call=call)]
    if getattr(getattr(model, "encoder", None), "conv", None) is not None:  # DeBERTa
        found.append(Tap("encoder.convolution_norm", model.encoder.conv.LayerNorm))
    return found


def layers_of(model):
    if hasattr(model, "transformer"):  # DistilBERT
        return list(model.transformer.layer)
    if not hasattr(model.encoder, "albert_layer_groups"):
        return list(model.encoder.layer)
    count, groups = model.config.num_hidden_layers, model.encoder.albert_layer_groups
    return [groups[int(i / (count / len(groups)))].albert_layers[0] for i in range(count)]


def sub_layers(layer):
    if hasattr(layer, "sa_layer_norm"):  # DistilBERT
        attention = layer.attention.out_lin, layer.sa_layer_norm
        feed_forward = layer.ffn.lin2, layer.output_layer_norm
    elif hasattr(layer.attention, "attn"):  # MPNet
        attention = layer.attention.attn.o, layer.attention.LayerNorm
        feed_forward = layer.output.dense, layer.output.LayerNorm
    elif hasattr(layer, "ffn_output"):  # ALBERT
        attention = layer.attention.dense, layer.attention.LayerNorm
        feed_forward = layer.ffn_output, layer.full_layer_layer_norm
    else:
        attention = layer.attention.output.dense, layer.attention.output.LayerNorm
        feed_forward = layer.output.dense, layer.output.LayerNorm
    return [("self_attention", *attention), ("feed_forward", *feed_forward)]


def classifier_taps(model):
    output = getattr(model.classifier, "out_proj", model.classifier)
    of_texts = "SequenceClassification" in type(model).__name__
    return [
        *taps(model.base_model),
        *([Tap("head.dense", output, at="input")] if of_texts else []),
        Tap("head.output", output),
    ]


def classifier(name, of, **more):
    """Returns a family of classifiers of texts ("Sequence") or tokens ("Token")."""
    model_class = getattr(transformers, f"{name}For{of}Classification")
    return Family(model_class, getattr(transformers, f"{name}Config"), classifier_taps, kind=ENCODER_ONLY, **more)


def family(name, head_parts, **more):
    """Returns a family whose oracle has no head. The saved model can have one."""
    return Family(
        getattr(transformers, f"{name}Model"),
        getattr(transformers, f"{name}Config"),
        taps,
        kind=ENCODER_ONLY,
        head_class=getattr(transformers, f"{name}{more.pop('head', 'Model')}"),
        unused=("pooler.", *head_parts),
        computed=("pooler.dense.weight", "pooler.dense.bias", "pooler.weight", "pooler.bias"),
        **more,
    )


def pair(name, *head_parts, **more):
    """Returns two families: without a head, whose tensor names have no prefix, and with a masked language model head."""
    return family(name, head_parts, **more), family(name, head_parts, head="ForMaskedLM", **more)


def ids(pad, bos=None, eos=None):
    return {"config": lambda given: {"pad_token_id": pad, "bos_token_id": bos, "eos_token_id": eos}}


BERT, BERT_HEAD = pair("Bert", "cls.", **ids(0))
ROBERTA, ROBERTA_HEAD = pair("Roberta", "lm_head.", **ids(1, 0, 2))
XLM_ROBERTA, XLM_ROBERTA_HEAD = pair("XLMRoberta", "lm_head.", **ids(1, 0, 2))
DISTILBERT, DISTILBERT_HEAD = pair("DistilBert", "vocab_", **ids(0))


CAMEMBERT, _ = pair("Camembert", "lm_head.", **ids(1, 5, 6))
ELECTRA, _ = pair("Electra", "generator_", **ids(0))
ALBERT, ALBERT_HEAD = pair("Albert", "predictions.", **ids(0, 2, 3))
MPNET, MPNET_HEAD = pair("MPNet", "lm_head.", **ids(1, 0, 2))
ELECTRA_CLASSIFIER, ELECTRA_TAGGER = (classifier("Electra", of, **ids(0)) for of in ("Sequence", "Token"))
ALBERT_CLASSIFIER, ALBERT_TAGGER = (classifier("Albert", of, **ids(0, 2, 3)) for of in ("Sequence", "Token"))
MPNET_CLASSIFIER = classifier("MPNet", "Sequence", **ids(1, 0, 2))
BERT_CLASSIFIER, BERT_TAGGER = (classifier("Bert", of, **ids(0)) for of in ("Sequence", "Token"))
ROBERTA_CLASSIFIER, ROBERTA_TAGGER = (classifier("Roberta", of, **ids(1, 0, 2)) for of in ("Sequence", "Token"))
XLM_ROBERTA_CLASSIFIER = classifier("XLMRoberta", "Sequence", **ids(1, 0, 2))
DISTILBERT_CLASSIFIER, DISTILBERT_TAGGER = (classifier("DistilBert", of, **ids(0)) for of in ("Sequence", "Token"))


# Softmax cancels the bias of keys, those of distances too, unless they are multiplied with queries of distances.
DEBERTA = family("DebertaV2", ("cls.", "pos_key_proj.bias"), **ids(0))
DEBERTA_WITHOUT_P2C = family("DebertaV2", ("cls.", "key_proj.bias"), **ids(0))
DEBERTA_CLASSIFIER, DEBERTA_TAGGER = (classifier("DebertaV2", of, **ids(0)) for of in ("Sequence", "Token"))


def sizes(hidden_size, layers, heads, intermediate_size, vocab_size, **more):
    return {
        "hidden_size": hidden_size,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": intermediate_size,
        "vocab_size": vocab_size,
        "max_position_embeddings": 20,
    } | more


def distilbert_sizes(dim, layers, heads, hidden_dim, vocab_size, **more):
    return {
        "dim": dim,
        "n_layers": layers,
        "n_heads": heads,
        "hidden_dim": hidden_dim,
        "vocab_size": vocab_size,
        "max_position_embeddings": 18,
    } | more


def publish_old_bert(case, model, folder):
    """Writes the form of the first versions: gamma and beta, stored position numbers, all tied names, few keys in config.json."""
    tensors = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in model.state_dict().items()
    }
    config = model.config
    tensors["bert.embeddings.position_ids"] = torch.arange(config.max_position_embeddings).float()[None]
    tensors["bert.pooler.dense.weight"] = torch.zeros(config.hidden_size, config.hidden_size)
    tensors["bert.pooler.dense.bias"] = torch.zeros(config.hidden_size)
    kept = "hidden_act hidden_size intermediate_size max_position_embeddings num_attention_heads num_hidden_layers vocab_size"
    settings = {key: getattr(config, key) for key in kept.split()}
    settings |= {"architectures": ["BertForMaskedLM"], "attention_probs_dropout_prob": 0.1, "hidden_dropout_prob": 0.1}
    settings |= {"initializer_range": 0.02, "model_type": "bert", "type_vocab_size": 2, "pad_token_id": 0}
    return write_folder(case, folder, tensors, settings)


def bert_cases():
    return [
        Case("base", BERT, sizes(12, 2, 3, 31, 26)),
        Case("masked_lm", BERT_HEAD, sizes(16, 1, 4, 27, 24, hidden_act="gelu_new", layer_norm_eps=1e-3)),
        Case("old_names", BERT_HEAD, sizes(15, 1, 5, 29, 25), publish=publish_old_bert),
        Case("classifier", BERT_CLASSIFIER, sizes(12, 2, 3, 21, 26, num_labels=3)),
        Case("tagger", BERT_TAGGER, sizes(12, 1, 2, 21, 26, num_labels=5)),
    ]


def roberta_cases():
    # The pad id has no position, even inside a row: positions count only the other ids.
    one_type = {"type_vocab_size": 1, "layer_norm_eps": 1e-5}
    return [
        Case("base", ROBERTA, sizes(12, 2, 2, 31, 26, **one_type), pad_inside_source=True),
        Case("masked_lm", ROBERTA_HEAD, sizes(15, 1, 3, 22, 24, **one_type), pad_inside_source=True),
        Case("classifier", ROBERTA_CLASSIFIER, sizes(10, 2, 2, 22, 24, num_labels=1, **one_type)),
        Case("tagger", ROBERTA_TAGGER, sizes(10, 1, 2, 22, 24, num_labels=4, **one_type)),
    ]


def xlm_roberta_cases():
    return [
        Case("base", XLM_ROBERTA, sizes(12, 2, 3, 26, 28), pad_inside_source=True),
        Case("masked_lm", XLM_ROBERTA_HEAD, sizes(10, 1, 5, 27, 24, type_vocab_size=1), pad_inside_source=True),
        Case("classifier", XLM_ROBERTA_CLASSIFIER, sizes(12, 1, 3, 22, 24, num_labels=2, type_vocab_size=1)),
    ]


def distilbert_cases():
    return [
        Case("base", DISTILBERT, distilbert_sizes(12, 2, 3, 31, 26)),
        Case("masked_lm", DISTILBERT_HEAD, distilbert_sizes(14, 1, 2, 23, 24, activation="relu")),
        Case("classifier", DISTILBERT_CLASSIFIER, distilbert_sizes(12, 2, 3, 23, 24, num_labels=5)),
        Case("tagger", DISTILBERT_TAGGER, distilbert_sizes(12, 1, 2, 23, 24, num_labels=3)),
    ]


def camembert_cases():
    return [Case("base", CAMEMBERT, sizes(12, 2, 3, 26, 28, type_vocab_size=1), pad_inside_source=True)]


def electra_cases():
    return [
        Case("base", ELECTRA, sizes(12, 2, 3, 26, 28, embedding_size=7)),
        Case("same_width", ELECTRA, sizes(10, 1, 2, 26, 28, embedding_size=10)),
        Case("classifier", ELECTRA_CLASSIFIER, sizes(12, 1, 3, 26, 28, embedding_size=16, hidden_act="relu", num_labels=2)),
        Case("tagger", ELECTRA_TAGGER, sizes(12, 1, 3, 26, 28, embedding_size=8, num_labels=3)),
    ]


def deberta_cases():
    """The settings of published v3 models, and others that v2 has."""
    published = {"relative_attention": True, "pos_att_type": "p2c|c2p", "position_biased_input": False, "norm_rel_ebd": "layer_norm",
                 "share_att_key": True, "position_buckets": 8, "max_relative_positions": 16}  # fmt: skip
    own = {"relative_attention": True, "max_relative_positions": 6, "type_vocab_size": 2}
    return [
        Case("base", DEBERTA, sizes(12, 2, 3, 26, 28, **published), source_lengths=(40, 3, 1, 17)),
        Case("own_projections", DEBERTA, sizes(12, 1, 2, 26, 28, pos_att_type=["c2p", "p2c"], **own)),
        Case("of_queries", DEBERTA_WITHOUT_P2C, sizes(10, 2, 2, 20, 24, **published | {"pos_att_type": "c2p", "position_buckets": -1, "norm_rel_ebd": "none"})),
        Case("of_keys", DEBERTA, sizes(10, 1, 1, 20, 24, pos_att_type=["p2c"], **own)),
        Case("convolution", DEBERTA, sizes(12, 2, 3, 26, 28, conv_kernel_size=3, conv_act="gelu", **published)),
        Case("absolute", DEBERTA_WITHOUT_P2C, sizes(12, 1, 3, 26, 28, pos_att_type="c2p")),
        Case("classifier", DEBERTA_CLASSIFIER, sizes(12, 1, 3, 26, 28, num_labels=3, **published)),
        Case("tagger", DEBERTA_TAGGER, sizes(12, 1, 3, 26, 28, num_labels=4, **published)),
    ]


def albert_cases():
    return [
        Case("base", ALBERT, sizes(12, 3, 3, 26, 28, embedding_size=7, num_hidden_groups=2)),
        Case("masked_lm", ALBERT_HEAD, sizes(10, 3, 2, 22, 28, embedding_size=10, layer_norm_eps=1e-3)),
        Case("classifier", ALBERT_CLASSIFIER, sizes(12, 2, 3, 26, 28, embedding_size=16, hidden_act="relu", num_labels=3)),
        Case("tagger", ALBERT_TAGGER, sizes(12, 2, 3, 26, 28, embedding_size=8, num_hidden_groups=2, num_labels=4)),
    ]


def mpnet_cases():
    return [
        Case("base", MPNET, sizes(12, 2, 3, 26, 28), pad_inside_source=True),
        Case("long", MPNET, sizes(8, 1, 2, 12, 24) | {"max_position_embeddings": 160}, source_lengths=(150, 3)),
        Case("masked_lm", MPNET_HEAD, sizes(10, 1, 2, 26, 28)),
        Case("classifier", MPNET_CLASSIFIER, sizes(12, 1, 3, 26, 28, num_labels=2)),
    ]
