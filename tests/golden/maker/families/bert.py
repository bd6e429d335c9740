"""Encoder-only families: BERT, RoBERTa, XLM-R, CamemBERT, DistilBERT, ELECTRA, ALBERT, MPNet and DeBERTa. Norm last, with a norm after
the embeddings."""

from typing import NamedTuple

import torch
import transformers

from maker.case import ENCODER_ONLY, Case, Family, Tap, classifier, family, norm_last_taps
from maker.publish import write_folder


def taps(model):
    model = model.base_model
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
        found += norm_last_taps(f"encoder.{i}", sub_layers(layer), call)
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


def encoder(name, head, ids, unused):
    """Returns a family whose oracle has no head. The saved model has one, unless `head` is "Model"."""
    head_class = getattr(transformers, name + head)
    computed = ("pooler.dense.weight", "pooler.dense.bias", "pooler.weight", "pooler.bias")
    unused = ("pooler.", *unused)
    return family(name, "Model", taps, **ids, kind=ENCODER_ONLY, head_class=head_class, unused=unused, computed=computed)


class Variants(NamedTuple):
    """The families of a model_type: without a head (tensor names have no prefix), with the head of a masked language model, and
    classifiers of texts and of tokens."""

    base: Family
    masked_lm: Family
    texts: Family
    tokens: Family


def variants(name, *unused, pad=0, bos=None, eos=None):
    ids = {"config": lambda given: {"pad_token_id": pad, "bos_token_id": bos, "eos_token_id": eos}}
    heads = [encoder(name, head, ids, unused) for head in ("Model", "ForMaskedLM")]
    return Variants(*heads, *(classifier(name, task, taps, **ids) for task in ("Sequence", "Token")))


BERT, DISTILBERT, ELECTRA = variants("Bert", "cls."), variants("DistilBert", "vocab_"), variants("Electra", "generator_")
ALBERT = variants("Albert", "predictions.", pad=0, bos=2, eos=3)
CAMEMBERT = variants("Camembert", "lm_head.", pad=1, bos=5, eos=6)
ROBERTA, XLM_ROBERTA, MPNET = (variants(name, "lm_head.", pad=1, bos=0, eos=2) for name in ("Roberta", "XLMRoberta", "MPNet"))
# Softmax cancels the bias of keys, those of distances too, unless they are multiplied with queries of distances.
DEBERTA = variants("DebertaV2", "cls.", "pos_key_proj.bias")
DEBERTA_WITHOUT_P2C = variants("DebertaV2", "cls.", "key_proj.bias")


def sizes(width, layers, heads, hidden, vocab_size, **more):
    return {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads, "intermediate_size": hidden,
            "vocab_size": vocab_size, "max_position_embeddings": 20} | more  # fmt: skip


def distilbert_sizes(dim, layers, heads, hidden, vocab_size, **more):
    return {"dim": dim, "n_layers": layers, "n_heads": heads, "hidden_dim": hidden, "vocab_size": vocab_size,
            "max_position_embeddings": 18} | more  # fmt: skip


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


# The settings of published v3 models, and others that v2 has.
DEBERTA_3 = {"relative_attention": True, "pos_att_type": "p2c|c2p", "position_biased_input": False, "norm_rel_ebd": "layer_norm",
             "share_att_key": True, "position_buckets": 8, "max_relative_positions": 16}  # fmt: skip
DEBERTA_2 = {"relative_attention": True, "max_relative_positions": 6, "type_vocab_size": 2}
DEBERTA_QUERIES = DEBERTA_3 | {"pos_att_type": "c2p", "position_buckets": -1, "norm_rel_ebd": "none"}
ONE_TYPE = {"type_vocab_size": 1}
ROBERTA_TYPE = {"type_vocab_size": 1, "layer_norm_eps": 1e-5}

CASES = {
    "bert": [
        Case("base", BERT.base, sizes(12, 2, 3, 31, 26)),
        Case("masked_lm", BERT.masked_lm, sizes(16, 1, 4, 27, 24, hidden_act="gelu_new", layer_norm_eps=1e-3)),
        Case("old_names", BERT.masked_lm, sizes(15, 1, 5, 29, 25), publish=publish_old_bert),
        Case("classifier", BERT.texts, sizes(12, 2, 3, 21, 26, num_labels=3)),
        Case("tagger", BERT.tokens, sizes(12, 1, 2, 21, 26, num_labels=5)),
    ],
    # The pad id has no position, even inside a row: positions count only the other ids.
    "roberta": [
        Case("base", ROBERTA.base, sizes(12, 2, 2, 31, 26, **ROBERTA_TYPE), pad_inside_source=True),
        Case("masked_lm", ROBERTA.masked_lm, sizes(15, 1, 3, 22, 24, **ROBERTA_TYPE), pad_inside_source=True),
        Case("classifier", ROBERTA.texts, sizes(10, 2, 2, 22, 24, num_labels=1, **ROBERTA_TYPE)),
        Case("tagger", ROBERTA.tokens, sizes(10, 1, 2, 22, 24, num_labels=4, **ROBERTA_TYPE)),
    ],
    "xlm_roberta": [
        Case("base", XLM_ROBERTA.base, sizes(12, 2, 3, 26, 28), pad_inside_source=True),
        Case("masked_lm", XLM_ROBERTA.masked_lm, sizes(10, 1, 5, 27, 24, **ONE_TYPE), pad_inside_source=True),
        Case("classifier", XLM_ROBERTA.texts, sizes(12, 1, 3, 22, 24, num_labels=2, **ONE_TYPE)),
    ],
    "distilbert": [
        Case("base", DISTILBERT.base, distilbert_sizes(12, 2, 3, 31, 26)),
        Case("masked_lm", DISTILBERT.masked_lm, distilbert_sizes(14, 1, 2, 23, 24, activation="relu")),
        Case("classifier", DISTILBERT.texts, distilbert_sizes(12, 2, 3, 23, 24, num_labels=5)),
        Case("tagger", DISTILBERT.tokens, distilbert_sizes(12, 1, 2, 23, 24, num_labels=3)),
    ],
    "camembert": [Case("base", CAMEMBERT.base, sizes(12, 2, 3, 26, 28, **ONE_TYPE), pad_inside_source=True)],
    "electra": [
        Case("base", ELECTRA.base, sizes(12, 2, 3, 26, 28, embedding_size=7)),
        Case("same_width", ELECTRA.base, sizes(10, 1, 2, 26, 28, embedding_size=10)),
        Case("classifier", ELECTRA.texts, sizes(12, 1, 3, 26, 28, embedding_size=16, hidden_act="relu", num_labels=2)),
        Case("tagger", ELECTRA.tokens, sizes(12, 1, 3, 26, 28, embedding_size=8, num_labels=3)),
    ],
    "albert": [
        Case("base", ALBERT.base, sizes(12, 3, 3, 26, 28, embedding_size=7, num_hidden_groups=2)),
        Case("masked_lm", ALBERT.masked_lm, sizes(10, 3, 2, 22, 28, embedding_size=10, layer_norm_eps=1e-3)),
        Case("classifier", ALBERT.texts, sizes(12, 2, 3, 26, 28, embedding_size=16, hidden_act="relu", num_labels=3)),
        Case("tagger", ALBERT.tokens, sizes(12, 2, 3, 26, 28, embedding_size=8, num_hidden_groups=2, num_labels=4)),
    ],
    "mpnet": [
        Case("base", MPNET.base, sizes(12, 2, 3, 26, 28), pad_inside_source=True),
        Case("long", MPNET.base, sizes(8, 1, 2, 12, 24) | {"max_position_embeddings": 160}, source_lengths=(150, 3)),
        Case("masked_lm", MPNET.masked_lm, sizes(10, 1, 2, 26, 28)),
        Case("classifier", MPNET.texts, sizes(12, 1, 3, 26, 28, num_labels=2)),
    ],
    "deberta_v2": [
        Case("base", DEBERTA.base, sizes(12, 2, 3, 26, 28, **DEBERTA_3), source_lengths=(40, 3, 1, 17)),
        Case("own_projections", DEBERTA.base, sizes(12, 1, 2, 26, 28, pos_att_type=["c2p", "p2c"], **DEBERTA_2)),
        Case("of_queries", DEBERTA_WITHOUT_P2C.base, sizes(10, 2, 2, 20, 24, **DEBERTA_QUERIES)),
        Case("of_keys", DEBERTA.base, sizes(10, 1, 1, 20, 24, pos_att_type=["p2c"], **DEBERTA_2)),
        Case("convolution", DEBERTA.base, sizes(12, 2, 3, 26, 28, conv_kernel_size=3, conv_act="gelu", **DEBERTA_3)),
        Case("absolute", DEBERTA_WITHOUT_P2C.base, sizes(12, 1, 3, 26, 28, pos_att_type="c2p")),
        Case("classifier", DEBERTA.texts, sizes(12, 1, 3, 26, 28, num_labels=3, **DEBERTA_3)),
        Case("tagger", DEBERTA.tokens, sizes(12, 1, 3, 26, 28, num_labels=4, **DEBERTA_3)),
    ],
}
