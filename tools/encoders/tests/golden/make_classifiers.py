#!/usr/bin/env python3
"""Makes classifiers/: tiny random classifiers and rerankers, and what transformers and sentence-transformers say.

    pip install -r ../../../../tests/golden/requirements.txt
    python make_classifiers.py

Every case is a folder: model/ as saved by the library, and expected.json with texts and their scores. Weights come from torch with
fixed seeds and one thread, so a second run on the same machine writes the same bytes.
"""

import itertools
import json
import logging
import os
import shutil
import warnings
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers
from sentence_transformers import CrossEncoder
from sentence_transformers.base.modules.dense import Dense
from sentence_transformers.base.modules.transformer import Transformer
from sentence_transformers.sentence_transformer.modules.layer_norm import LayerNorm
from sentence_transformers.sentence_transformer.modules.pooling import Pooling
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from tokenizers.processors import RobertaProcessing
from transformers import AlbertTokenizer, DistilBertTokenizer, RobertaTokenizer, T5Tokenizer, pipeline

from make_sentence_transformers import VOCABULARY, randomize, rounded, scored, write_pieces, write_word_pieces

FOLDER = Path(__file__).parent / "classifiers"
TEXTS = [
    ["the cat sat on a mat.", "Singing in the rain!"],
    ["", "a"],
    ["a", ""],
    ["Who?", "An unknown ☃ and much more text than the model can take, so that it is cut off at the end, 1 2 3 4 5"],
    ["the first text is the longer one of the two, with more tokens than there is room for", "  two\twords "],
    ["both texts of this pair are too long for the model", "both texts of this pair are too long for the model"],
]
QUERY = "who sat on the mat?"
DOCUMENTS = ["the cat sat on a mat.", "a dog", "", "Singing in the rain!", "a dog", "the " * 40]
LABELS = ["sport", "the weather", "cats"]
TAGGED = [
    "the cat sat on a mat.",
    "  two  spaces,\tand a Café in Łódź: the end",
    "ﬁne e\u0301t\u0301 ½ İ",
    "a",
    "the the 日本 ☃ the",
    "a text that is far too long for the model, so that its end is cut off",
]


def sizes(**more):
    common = {"vocab_size": len(VOCABULARY), "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 24}
    return common | {"num_hidden_layers": 2, "max_position_embeddings": 40} | more


def labelled(*labels):
    return {"id2label": dict(enumerate(labels)), "label2id": {label: number for number, label in enumerate(labels)}}


def distilbert_sizes(**more):
    return {"vocab_size": len(VOCABULARY), "dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 24, "max_position_embeddings": 40} | more


def write_byte_pairs(folder):
    pieces = ["<s>", "<pad>", "</s>", "<unk>", *sorted(pre_tokenizers.ByteLevel.alphabet()), "th", "the", "Ġthe", "Ġa", "in", "Ġt"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    merges = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("Ġ", "a"), ("i", "n"), ("Ġ", "t")]
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 0))
    fast = RobertaTokenizer(tokenizer_object=tokenizer, model_max_length=34)
    fast.save_pretrained(folder)
    return len(pieces)


def scores_of(tokenizer, model, pairs, **options):
    """Returns the logits and token ids of each text or pair alone."""
    rows = []
    for pair in pairs:
        batch = tokenizer([tuple(pair) if isinstance(pair, list) else pair], return_tensors="pt", truncation=True, **options)
        with torch.no_grad():
            logits = model(**batch).logits[0].tolist()
        rows.append({"ids": batch["input_ids"][0].tolist(), "logits": [float(f"{x:.8g}") for x in logits]})
    return rows


def write_case(name, model_class, config, write_tokenizer, change=None, cross_encoder=None, zero_shot=False):
    folder = FOLDER / name / "model"
    folder.mkdir(parents=True)
    config.vocab_size = write_tokenizer(folder) or config.vocab_size
    model = randomize(model_class(config), seed=sum(name.encode()))
    model.save_pretrained(folder)
    if cross_encoder:
        CrossEncoder(str(folder), **cross_encoder).save(str(folder), create_model_card=False)
    if change:
        change(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = model_class.from_pretrained(folder).eval()
    expected = {"texts": TEXTS, "pairs": scores_of(tokenizer, model, TEXTS), "single": scores_of(tokenizer, model, [a for a, _ in TEXTS])}
    classify = pipeline("text-classification", model=model, tokenizer=tokenizer)
    expected["classify"] = [
        [{"label": each["label"], "score": float(f"{each['score']:.8g}")} for each in classify(a, top_k=None, truncation=True)]
        for a, _ in TEXTS if a
    ]
    if model.config.num_labels == 1:
        ranker = CrossEncoder(str(folder), device="cpu")
        expected["rerank"] = {"query": QUERY, "documents": DOCUMENTS,
                              "scores": rounded(ranker.predict([(QUERY, each) for each in DOCUMENTS], batch_size=1).tolist())}
    if zero_shot:
        classify = pipeline("zero-shot-classification", model=model, tokenizer=tokenizer)
        expected["zero_shot"] = {"labels": LABELS}
        for key, options in {"single": {}, "multi": {"multi_label": True}, "one": {"candidate_labels": LABELS[:1]},
                             "template": {"hypothesis_template": "It is about {}, or not."}}.items():
            found = classify(TEXTS[0][0], **{"candidate_labels": LABELS} | options)
            expected["zero_shot"][key] = dict(zip(found["labels"], rounded(found["scores"])))
    (FOLDER / name / "expected.json").write_text(json.dumps(expected, ensure_ascii=False) + "\n", encoding="utf-8")


def write_albert_pieces(folder):
    pieces = scored("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
    AlbertTokenizer(vocab=pieces, model_max_length=34).save_pretrained(folder)
    return len(pieces)


def write_t5_pieces(folder):
    pieces = scored("<pad>", "</s>", "<unk>")
    T5Tokenizer(vocab=pieces, extra_ids=0, model_max_length=34).save_pretrained(folder)
    return len(pieces)


def scores(inputs, labels):
    return Dense(inputs, labels, activation_function=torch.nn.Identity(), module_output_name="scores")


def write_modular_case(name, modules, config):
    """Writes a CrossEncoder whose head is made of modules."""
    folder = FOLDER / name / "model"
    folder.mkdir(parents=True)
    randomize(transformers.AutoModel.from_config(config), seed=sum(name.encode())).save_pretrained(folder)
    write_word_pieces(folder)
    CrossEncoder(modules=[Transformer(str(folder)), *(randomize(module, 7) for module in modules)],
                 activation_fn=torch.nn.Identity() if name.endswith("identity") else None).save(str(folder), create_model_card=False)
    ranker = CrossEncoder(str(folder), device="cpu")
    labels = modules[-1].out_features
    expected = {"texts": TEXTS, "classify": []}
    for key, texts in {"pairs": TEXTS, "single": [a for a, _ in TEXTS]}.items():
        expected[key] = []
        for text in texts:
            with torch.no_grad():
                logits = ranker(ranker.preprocess([text]))["scores"][0]
            expected[key].append({"logits": rounded(logits.tolist())})
            scores = logits.sigmoid() if labels == 1 else logits.softmax(0)
            if key == "single" and text:
                expected["classify"].append([{"label": f"LABEL_{i}", "score": rounded([scores[i].item()])[0]} for i in scores.argsort(descending=True).tolist()])
    if labels == 1:
        expected["rerank"] = {"query": QUERY, "documents": DOCUMENTS,
                              "scores": rounded(ranker.predict([(QUERY, each) for each in DOCUMENTS], batch_size=1).tolist())}
    (FOLDER / name / "expected.json").write_text(json.dumps(expected, ensure_ascii=False) + "\n", encoding="utf-8")


def write_tagger(name, model_class, config, write_tokenizer):
    folder = FOLDER / "taggers" / name / "model"
    folder.mkdir(parents=True)
    config.vocab_size = write_tokenizer(folder) or config.vocab_size
    randomize(model_class(config), seed=sum(name.encode())).save_pretrained(folder)
    tag = pipeline("token-classification", model=str(folder))
    expected = {"texts": TAGGED}

    def add(key, texts, **options):
        rows = [tag(text, **options) for text in texts]
        expected[key] = [
            [{key: float(f"{value:.8g}") if key == "score" else value for key, value in each.items()} for each in row] for row in rows
        ]

    for strategy in ("none", "simple", "first", "average", "max"):
        for ignored in (["O"], []):
            add(strategy + ("" if ignored else " all"), TAGGED, aggregation_strategy=strategy, ignore_labels=ignored)
    # The length of a window is that of tokenizer_config.json.
    expected["long texts"] = [" ".join(TAGGED[i:] + TAGGED[:i]) for i in range(len(TAGGED))]
    for stride in (1, 7, 15):
        for strategy in ("simple", "max"):
            add(f"{strategy} {stride}", expected["long texts"], aggregation_strategy=strategy, ignore_labels=[], stride=stride)
    (FOLDER / "taggers" / name / "expected.json").write_text(json.dumps(expected, ensure_ascii=False) + "\n", encoding="utf-8")


def name_activation_in_config(key, activation):
    """Returns a change of the folder to the form of a version of sentence-transformers before 5.4."""
    def change(folder):
        for path in [folder / "modules.json", folder / "config_sentence_transformers.json", folder / "sentence_bert_config.json"]:
            path.unlink(missing_ok=True)
        config = json.loads((folder / "config.json").read_text())
        if key == "sentence_transformers":
            config[key] = {"activation_fn": activation, "version": "4.1.0"}
        else:
            config[key] = activation
        (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    return change


def write_truncation():
    """Writes what tokenizers leaves of two texts: rows [tokens of each text, room for both, tokens left of each]."""
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1, "b": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    expected = {}
    for strategy in ("longest_first", "only_first", "only_second"):
        rows = expected[strategy] = []
        for first, second, room in itertools.product(range(12), range(12), range(1, 12)):
            tokenizer.enable_truncation(max_length=room, strategy=strategy)
            try:
                ids = tokenizer.encode("a " * first, "b " * second).ids
                rows.append([first, second, room, ids.count(1), ids.count(2)])
            except BaseException:  # the library panics if the text that it may shorten is too short
                rows.append([first, second, room, None, None])
    (FOLDER / "truncation.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n")


def main():
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    transformers.utils.logging.set_verbosity_error()
    shutil.rmtree(FOLDER, ignore_errors=True)
    bert, roberta = transformers.BertForSequenceClassification, transformers.RobertaForSequenceClassification
    distilbert = transformers.DistilBertForSequenceClassification
    one = transformers.BertConfig(**sizes(num_labels=1))
    identity = "torch.nn.modules.linear.Identity"
    FOLDER.mkdir()
    write_truncation()
    write_case("reranker", bert, one, write_word_pieces)
    write_case("reranker_identity", bert, one, write_word_pieces, cross_encoder={"activation_fn": torch.nn.Identity(), "max_length": 24})
    write_case("reranker_identity_4", bert, one, write_word_pieces, change=name_activation_in_config("sentence_transformers", identity))
    write_case("reranker_identity_2", bert, one, write_word_pieces,
               change=name_activation_in_config("sbert_ce_default_activation_function", identity))
    write_case("reranker_byte_pairs", roberta, transformers.RobertaConfig(**sizes(num_labels=1, type_vocab_size=1, layer_norm_eps=1e-5)),
               write_byte_pairs)
    write_case("inference", bert, transformers.BertConfig(**sizes(**labelled("contradiction", "neutral", "Entailment"))),
               write_word_pieces, zero_shot=True)
    write_case("inference_first", bert, transformers.BertConfig(**sizes(**labelled("entailment", "not_entailment"))),
               write_word_pieces, zero_shot=True)
    write_case("several_labels", distilbert,
               transformers.DistilBertConfig(**distilbert_sizes(num_labels=4, problem_type="multi_label_classification")),
               lambda folder: write_word_pieces(folder, DistilBertTokenizer))
    albert = transformers.AlbertConfig(**sizes(num_labels=1, embedding_size=8))
    write_case("reranker_albert", transformers.AlbertForSequenceClassification, albert, write_albert_pieces)
    euro = transformers.EuroBertConfig(**sizes(num_labels=3, num_key_value_heads=1, pad_token_id=1, bos_token_id=0, eos_token_id=2))
    write_case("mean_of_logits", transformers.EuroBertForSequenceClassification, euro, write_pieces)
    bart = transformers.BartConfig(d_model=16, encoder_layers=1, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=4,
                                   encoder_ffn_dim=24, decoder_ffn_dim=20, max_position_embeddings=40,
                                   **labelled("contradiction", "neutral", "entailment"))
    write_case("inference_decoder", transformers.BartForSequenceClassification, bart, write_byte_pairs, zero_shot=True)
    t5 = transformers.T5Config(d_model=16, num_layers=1, num_heads=2, d_kv=8, d_ff=24, num_labels=1, decoder_start_token_id=0)
    write_case("reranker_decoder", transformers.T5ForSequenceClassification, t5, write_t5_pieces)
    head = {"activation_function": torch.nn.GELU(), "bias": False}
    write_modular_case("modules", [Pooling(16, "cls"), Dense(16, 16, **head), LayerNorm(16), scores(16, 1)],
                       transformers.ModernBertConfig(**sizes(pad_token_id=0, local_attention=8)))
    write_modular_case("modules_identity", [Pooling(16, "cls"), scores(16, 1)], transformers.BertConfig(**sizes()))
    write_modular_case("modules_several_labels", [Pooling(16, "mean"), Dense(16, 12, use_residual=True, **head), scores(12, 3)],
                       transformers.BertConfig(**sizes()))
    tags = labelled("O", "B-PER", "I-PER", "B-LOC", "I-LOC", "MISC")
    write_tagger("word_pieces", transformers.BertForTokenClassification, transformers.BertConfig(**sizes(**tags)), write_word_pieces)
    write_tagger("byte_pairs", transformers.RobertaForTokenClassification,
                 transformers.RobertaConfig(**sizes(type_vocab_size=1, layer_norm_eps=1e-5, **tags)), write_byte_pairs)
    write_tagger("pieces", transformers.XLMRobertaForTokenClassification,
                 transformers.XLMRobertaConfig(**sizes(type_vocab_size=1, layer_norm_eps=1e-5, **tags)), write_pieces)
    write_case("regression", bert, transformers.BertConfig(**sizes(num_labels=2, problem_type="regression")), write_word_pieces)


if __name__ == "__main__":
    main()
