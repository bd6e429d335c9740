#!/usr/bin/env python3
"""Makes classifiers/: tiny random classifiers and rerankers, and their results in transformers and sentence-transformers."""

import itertools
import shutil
from functools import partial
from pathlib import Path

from make_sentence_transformers import change_json, config_of, maker, new_model, pack, randomize, rounded, save, scored
from make_sentence_transformers import write_expected, write_pieces, write_word_pieces

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
TAGGED = ["the cat sat on a mat.", "  two  spaces,\tand a Café in Łódź: the end", "ﬁne e\u0301t\u0301 ½ İ", "a",
          "the the 日本 ☃ the", "a text that is far too long for the model, so that its end is cut off"]


def sized(kind, **more):
    return config_of(kind, layers=2, **more)


def labelled(*labels):
    return {"id2label": dict(enumerate(labels)), "label2id": {label: number for number, label in enumerate(labels)}}


def write_byte_pairs(folder):
    pieces = ["<s>", "<pad>", "</s>", "<unk>", *sorted(pre_tokenizers.ByteLevel.alphabet()), "th", "the", "Ġthe", "Ġa", "in", "Ġt"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    merges = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("Ġ", "a"), ("i", "n"), ("Ġ", "t")]
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 0))
    RobertaTokenizer(tokenizer_object=tokenizer, model_max_length=34).save_pretrained(folder)
    return len(pieces)


def scores_of(tokenizer, model, pairs):
    """Returns the logits and token ids of each text or pair alone."""
    rows = []
    for pair in pairs:
        batch = tokenizer([tuple(pair) if isinstance(pair, list) else pair], return_tensors="pt", truncation=True)
        with torch.no_grad():
            logits = model(**batch).logits[0].tolist()
        rows.append({"ids": batch["input_ids"][0].tolist(), "logits": rounded(logits)})
    return rows


def reranked(folder):
    scores = CrossEncoder(str(folder), device="cpu").predict([(QUERY, each) for each in DOCUMENTS], batch_size=1)
    return {"query": QUERY, "documents": DOCUMENTS, "scores": rounded(scores.tolist())}


def rounded_scores(found):
    return [each | {"score": rounded([each["score"]])[0]} for each in found]


def classifier_of(task, config):
    """Returns transformers' class FAMILYForTASKClassification."""
    return getattr(transformers, f"{type(config).__name__.removesuffix('Config')}For{task}Classification")


def write_case(name, config, write_tokenizer=write_word_pieces, change=None, cross_encoder=None, zero_shot=False):
    model_class = classifier_of("Sequence", config)
    folder = new_model(FOLDER, name, model_class, config, write_tokenizer)
    if cross_encoder:
        CrossEncoder(str(folder), **cross_encoder).save(str(folder), create_model_card=False)
    if change:
        change(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = model_class.from_pretrained(folder).eval()
    first = [a for a, _ in TEXTS]
    expected = {"texts": TEXTS, "pairs": scores_of(tokenizer, model, TEXTS), "single": scores_of(tokenizer, model, first)}
    classify = pipeline("text-classification", model=model, tokenizer=tokenizer)
    expected["classify"] = [rounded_scores(classify(text, top_k=None, truncation=True)) for text in first if text]
    if model.config.num_labels == 1:
        expected["rerank"] = reranked(folder)
    if zero_shot:
        classify = pipeline("zero-shot-classification", model=model, tokenizer=tokenizer)
        expected["zero_shot"] = {"labels": LABELS}
        for key, options in {"single": {}, "multi": {"multi_label": True}, "one": {"candidate_labels": LABELS[:1]},
                             "template": {"hypothesis_template": "It is about {}, or not."}}.items():
            found = classify(TEXTS[0][0], **{"candidate_labels": LABELS} | options)
            expected["zero_shot"][key] = dict(zip(found["labels"], rounded(found["scores"])))
    write_expected(folder, expected)


def write_scored(tokenizer_class, special, folder, **options):
    pieces = scored(*special)
    tokenizer_class(vocab=pieces, model_max_length=34, **options).save_pretrained(folder)
    return len(pieces)


write_albert_pieces = partial(write_scored, AlbertTokenizer, ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"))
write_t5_pieces = partial(write_scored, T5Tokenizer, ("<pad>", "</s>", "<unk>"), extra_ids=0)


def scores(inputs, labels):
    return Dense(inputs, labels, activation_function=torch.nn.Identity(), module_output_name="scores")


def write_modular_case(name, modules, config):
    """Writes a CrossEncoder whose head consists of modules."""
    folder = new_model(FOLDER, name, transformers.AutoModel.from_config, config, write_word_pieces)
    function = torch.nn.Identity() if name.endswith("identity") else None
    save(CrossEncoder, [Transformer(str(folder)), *(randomize(module, 7) for module in modules)], folder, activation_fn=function)
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
                order, values = scores.argsort(descending=True).tolist(), rounded(scores.tolist())
                expected["classify"].append([{"label": f"LABEL_{i}", "score": values[i]} for i in order])
    if labels == 1:
        expected["rerank"] = reranked(folder)
    write_expected(folder, expected)


def write_tagger(name, config, write_tokenizer):
    folder = new_model(FOLDER, f"taggers/{name}", classifier_of("Token", config), config, write_tokenizer)
    tag = pipeline("token-classification", model=str(folder))
    expected = {"texts": TAGGED}

    def add(key, texts, **options):
        expected[key] = [rounded_scores(tag(text, **options)) for text in texts]

    for strategy in ("none", "simple", "first", "average", "max"):
        for ignored in (["O"], []):
            add(strategy + ("" if ignored else " all"), TAGGED, aggregation_strategy=strategy, ignore_labels=ignored)
    # The length of a window comes from tokenizer_config.json.
    expected["long texts"] = [" ".join(TAGGED[i:] + TAGGED[:i]) for i in range(len(TAGGED))]
    for stride in (1, 7, 15):
        for strategy in ("simple", "max"):
            add(f"{strategy} {stride}", expected["long texts"], aggregation_strategy=strategy, ignore_labels=[], stride=stride)
    write_expected(folder, expected)


def name_activation_in_config(**keys):
    """Returns a function that changes a folder to the format of sentence-transformers before 5.4."""
    def change(folder):
        for name in ("modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"):
            (folder / name).unlink(missing_ok=True)
        change_json(folder / "config.json", lambda config: config.update(keys))
    return change


def write_truncation():
    """Writes how tokenizers truncates two texts: rows [tokens of each text, room for both, remaining tokens of each]."""
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
            except BaseException:  # the library panics if the text to truncate is too short
                rows.append([first, second, room, None, None])
    maker.write_json(FOLDER / "truncation.json", expected, indent=None, separators=(",", ":"))


def main():
    maker.prepare()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    write_truncation()
    one, identity = {"num_labels": 1}, "torch.nn.modules.linear.Identity"
    fairseq = {"type_vocab_size": 1, "layer_norm_eps": 1e-5}
    write_case("reranker", sized("Bert", **one))
    write_case("reranker_identity", sized("Bert", **one), cross_encoder={"activation_fn": torch.nn.Identity(), "max_length": 24})
    write_case("reranker_identity_4", sized("Bert", **one),
               change=name_activation_in_config(sentence_transformers={"activation_fn": identity, "version": "4.1.0"}))
    write_case("reranker_identity_2", sized("Bert", **one), change=name_activation_in_config(sbert_ce_default_activation_function=identity))
    write_case("reranker_byte_pairs", sized("Roberta", **one, **fairseq), write_byte_pairs)
    write_case("inference", sized("Bert", **labelled("contradiction", "neutral", "Entailment")), zero_shot=True)
    write_case("inference_first", sized("Bert", **labelled("entailment", "not_entailment")), zero_shot=True)
    write_case("several_labels", sized("DistilBert", num_labels=4, problem_type="multi_label_classification"),
               partial(write_word_pieces, tokenizer_class=DistilBertTokenizer))
    write_case("reranker_albert", sized("Albert", **one, embedding_size=8), write_albert_pieces)
    euro = sized("EuroBert", num_labels=3, num_key_value_heads=1, pad_token_id=1, bos_token_id=0, eos_token_id=2)
    write_case("mean_of_logits", euro, write_pieces)
    bart = transformers.BartConfig(d_model=16, encoder_layers=1, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=4,
                                   encoder_ffn_dim=24, decoder_ffn_dim=20, max_position_embeddings=40,
                                   **labelled("contradiction", "neutral", "entailment"))
    write_case("inference_decoder", bart, write_byte_pairs, zero_shot=True)
    t5 = transformers.T5Config(d_model=16, num_layers=1, num_heads=2, d_kv=8, d_ff=24, num_labels=1, decoder_start_token_id=0)
    write_case("reranker_decoder", t5, write_t5_pieces)
    head = {"activation_function": torch.nn.GELU(), "bias": False}
    write_modular_case("modules", [Pooling(16, "cls"), Dense(16, 16, **head), LayerNorm(16), scores(16, 1)],
                       sized("ModernBert", pad_token_id=0, local_attention=8))
    write_modular_case("modules_identity", [Pooling(16, "cls"), scores(16, 1)], sized("Bert"))
    write_modular_case("modules_several_labels", [Pooling(16, "mean"), Dense(16, 12, use_residual=True, **head), scores(12, 3)], sized("Bert"))
    tags = labelled("O", "B-PER", "I-PER", "B-LOC", "I-LOC", "MISC")
    write_tagger("word_pieces", sized("Bert", **tags), write_word_pieces)
    write_tagger("byte_pairs", sized("Roberta", **fairseq, **tags), write_byte_pairs)
    write_tagger("pieces", sized("XLMRoberta", **fairseq, **tags), write_pieces)
    write_case("regression", sized("Bert", num_labels=2, problem_type="regression"))
    pack(FOLDER)


if __name__ == "__main__":
    main()
