#!/usr/bin/env python3
"""Makes sentence_transformers/ and sparse_encoders/: tiny random sentence-transformers folders, and the
library's embeddings.

    pip install -r ../../../../tests/golden/requirements.txt
    python make_sentence_transformers.py

Every case is a folder: model/ as saved by the library, and expected.json with texts and their embeddings. Weights come from
torch with fixed seeds and one thread, so a second run on the same machine writes the same bytes.
"""

import json
import logging
import os
import shutil
import warnings
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers
from sentence_transformers import SentenceTransformer, SparseEncoder
from sentence_transformers.base.modules.dense import Dense
from sentence_transformers.base.modules.normalize import Normalize
from sentence_transformers.base.modules.transformer import Transformer
from sentence_transformers.sentence_transformer.modules.layer_norm import LayerNorm
from sentence_transformers.sentence_transformer.modules.pooling import Pooling
from sentence_transformers.sparse_encoder.modules.splade_pooling import SpladePooling
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.processors import TemplateProcessing
from transformers import BertConfig, BertModel, BertTokenizer, DistilBertConfig, DistilBertModel, PreTrainedTokenizerFast

FOLDER = Path(__file__).parent / "sentence_transformers"
SPARSE_FOLDER = Path(__file__).parent / "sparse_encoders"
WIDTH = 16
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,!?"
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *("##" + letter for letter in LETTERS[:36]), "the", "##ing"]
TEXTS = [
    "the cat sat on a mat.",
    "Singing in the rain!",
    "",
    "a",
    "An unknown ☃ and much more text than the model can take, so that it is cut off at the end, 1 2 3 4 5 6 7 8 9",
    "  spaces   and\ttabs ",
]


def randomize(module, seed):
    """Sets every weight to random values, also those of norms and biases."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            centre = 1.0 if "LayerNorm.weight" in name or "layer_norm.weight" in name else 0.0
            parameter.copy_(centre + 0.3 * torch.randn(parameter.shape, generator=generator))
    return module.eval()


def sizes(kind):
    if kind == "distilbert":
        return DistilBertModel(DistilBertConfig(vocab_size=len(VOCABULARY), dim=WIDTH, n_layers=1, n_heads=2, hidden_dim=24,
                                                max_position_embeddings=40))
    return BertModel(BertConfig(vocab_size=len(VOCABULARY), hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=2,
                                intermediate_size=24, max_position_embeddings=40))


def write_transformer(folder, kind, seed):
    randomize(sizes(kind), seed).save_pretrained(folder)
    write_word_pieces(folder)


def write_case(name, modules, kind="bert", max_length=None, change=None):
    folder = FOLDER / name / "model"
    folder.mkdir(parents=True)
    write_transformer(folder, kind, seed=sum(name.encode()))
    if modules is not None:
        transformer = Transformer(str(folder), max_seq_length=max_length)
        SentenceTransformer(modules=[transformer, *(randomize(module, 5) for module in modules)]).save(
            str(folder), create_model_card=False)
    if change:
        change(folder)
    embeddings = SentenceTransformer(str(folder), device="cpu").encode(TEXTS, batch_size=1)
    expected = {"texts": TEXTS, "embeddings": [rounded(row) for row in embeddings.tolist()]}
    (FOLDER / name / "expected.json").write_text(json.dumps(expected, ensure_ascii=False) + "\n", encoding="utf-8")


def rounded(values):
    return [float(f"{x:.8g}") for x in values]


def write_word_pieces(folder, tokenizer_class=BertTokenizer):
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    tokenizer_class.from_pretrained(folder, do_lower_case=True, model_max_length=32).save_pretrained(folder)


def write_sparse_case(name, kind, splade=None, change=None, **options):
    """Writes a masked language model: a folder with SpladePooling or, without `splade`, a bare one."""
    folder = SPARSE_FOLDER / name / "model"
    folder.mkdir(parents=True)
    sizes = {"vocab_size": len(VOCABULARY), "max_position_embeddings": 40, "pad_token_id": 0}
    if kind == "DistilBert":
        sizes |= {"dim": WIDTH, "n_layers": 1, "n_heads": 2, "hidden_dim": 24}
    else:
        sizes |= {"hidden_size": WIDTH, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24}
    config = getattr(transformers, kind + "Config")(**sizes | options)
    randomize(getattr(transformers, kind + "ForMaskedLM")(config), seed=sum(name.encode())).save_pretrained(folder)
    write_word_pieces(folder)
    if splade is not None:
        transformer = Transformer(str(folder), transformer_task="fill-mask")
        SparseEncoder(modules=[transformer, SpladePooling(**splade)]).save(str(folder), create_model_card=False)
    if change:
        change(folder)
    vectors = SparseEncoder(str(folder), device="cpu").encode(TEXTS, batch_size=1, convert_to_tensor=True).to_dense()
    expected = {"texts": TEXTS, "vectors": []}
    for vector in vectors:
        ids = vector.nonzero().flatten().tolist()
        expected["vectors"].append({"ids": ids, "values": rounded(vector[ids].tolist())})
    if splade is None:
        expected["embeddings"] = [rounded(row) for row in SentenceTransformer(str(folder), device="cpu").encode(TEXTS, batch_size=1).tolist()]
    (SPARSE_FOLDER / name / "expected.json").write_text(json.dumps(expected, ensure_ascii=False) + "\n", encoding="utf-8")


def scored(*special):
    """Returns the pieces of a small unigram model, with their scores."""
    letters = [("▁" + letter, -3.0 - 0.01 * i) for i, letter in enumerate(LETTERS)] + [(letter, -3.5) for letter in LETTERS]
    return [*((token, 0.0) for token in special), ("▁the", -2.0), ("at", -2.5), ("▁", -4.0), *letters]


def write_pieces(folder, **options):
    pieces = scored("<s>", "<pad>", "</s>", "<unk>")
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=3, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>",
                            model_max_length=34, **options).save_pretrained(folder)
    return len(pieces)


def write_m3_case():
    """Writes a model in the form of BGE-M3. Expected values follow FlagEmbedding (inference/embedder/encoder_only/m3.py)."""
    folder = SPARSE_FOLDER / "bge_m3" / "model"
    folder.mkdir(parents=True)
    vocabulary = write_pieces(folder, cls_token="<s>")
    config = transformers.XLMRobertaConfig(vocab_size=vocabulary, hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=2,
                                           intermediate_size=24, max_position_embeddings=40, type_vocab_size=1)
    randomize(transformers.XLMRobertaModel(config), 11).save_pretrained(folder)
    SentenceTransformer(modules=[Transformer(str(folder)), Pooling(WIDTH, "cls"), Normalize()]).save(str(folder), create_model_card=False)
    sparse, colbert = randomize(torch.nn.Linear(WIDTH, 1), 12), randomize(torch.nn.Linear(WIDTH, 12), 13)
    torch.save(sparse.state_dict(), folder / "sparse_linear.pt")
    torch.save(colbert.state_dict(), folder / "colbert_linear.pt")
    model, tokenizer = transformers.AutoModel.from_pretrained(folder).eval(), transformers.AutoTokenizer.from_pretrained(folder)
    unused = {tokenizer.cls_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id, tokenizer.unk_token_id}
    expected = {"texts": TEXTS, "vectors": [], "colbert": []}
    for text in TEXTS:
        batch = tokenizer(text, return_tensors="pt", truncation=True)
        with torch.no_grad():
            hidden = model(**batch).last_hidden_state[0]
            weights = torch.relu(sparse(hidden)).flatten().tolist()
            vectors = torch.nn.functional.normalize(colbert(hidden[1:]), dim=-1)
        best = {}
        for token, weight in zip(batch["input_ids"][0].tolist(), weights):
            if token not in unused and weight > best.get(token, 0):
                best[token] = weight
        ids = sorted(best)
        expected["vectors"].append({"ids": ids, "values": rounded([best[each] for each in ids])})
        expected["colbert"].append([rounded(row) for row in vectors.tolist()])
    expected["embeddings"] = [rounded(row) for row in SentenceTransformer(str(folder), device="cpu").encode(TEXTS, batch_size=1).tolist()]
    (SPARSE_FOLDER / "bge_m3" / "expected.json").write_text(json.dumps(expected, ensure_ascii=False) + "\n", encoding="utf-8")


def use_older_splade(folder):
    """Rewrites the folder in the form of version 5.3 and earlier: the class MLMTransformer."""
    modules = json.loads((folder / "modules.json").read_text())
    modules[0]["type"] = "sentence_transformers.sparse_encoder.models.MLMTransformer"
    modules[1]["type"] = "sentence_transformers.sparse_encoder.models.SpladePooling"
    (folder / "modules.json").write_text(json.dumps(modules, indent=2) + "\n")
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 20, "do_lower_case": false}\n')


def use_older_flags(folder):
    """Rewrites the folder in the form of version 5 and earlier: a flag for each kind of pooling."""
    flags = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")
    path = next(folder.glob("*Pooling/config.json"))
    config = {"word_embedding_dimension": WIDTH}
    config |= {f"pooling_mode_{flag}": flag in ("max_tokens", "mean_tokens") for flag in flags}
    path.write_text(json.dumps(config, indent=2) + "\n")
    modules = json.loads((folder / "modules.json").read_text())
    for module in modules:
        module["type"] = "sentence_transformers.models." + module["type"].rsplit(".", 1)[1]
    (folder / "modules.json").write_text(json.dumps(modules, indent=2) + "\n")


def add_prompt(folder):
    path = folder / "config_sentence_transformers.json"
    config = json.loads(path.read_text()) | {"prompts": {"query": "the query: "}, "default_prompt_name": "query"}
    path.write_text(json.dumps(config, indent=2) + "\n")


def move_transformer(folder):
    """Rewrites the folder in the form of version 0: the Transformer is in a folder of its own."""
    modules = json.loads((folder / "modules.json").read_text())
    inside = folder / "0_Transformer"
    inside.mkdir()
    for path in list(folder.iterdir()):
        if path.is_file() and not path.name.startswith(("modules", "config_sentence")):
            path.rename(inside / path.name)
    modules[0]["path"] = "0_Transformer"
    (folder / "modules.json").write_text(json.dumps(modules, indent=2) + "\n")


def main():
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    transformers.utils.logging.set_verbosity_error()
    for folder in (FOLDER, SPARSE_FOLDER):
        shutil.rmtree(folder, ignore_errors=True)
    write_case("mean_normalized", [Pooling(WIDTH, "mean"), Normalize()], max_length=20)
    write_case("first_token", [Pooling(WIDTH, "cls")], kind="distilbert")
    write_case("max_and_mean_dense", [Pooling(WIDTH, ("max", "mean")), Dense(2 * WIDTH, 6), Normalize()])
    write_case("weighted_mean", [Pooling(WIDTH, "weightedmean")], max_length=9)
    write_case("last_token_dense", [Pooling(WIDTH, "lasttoken"),
                                    Dense(WIDTH, 5, bias=False, activation_function=torch.nn.Identity())])
    write_case("layer_norm_residual", [Pooling(WIDTH, "cls"), LayerNorm(WIDTH),
                                       Dense(WIDTH, WIDTH, activation_function=torch.nn.GELU(), use_residual=True),
                                       Dense(WIDTH, 9, use_residual=True), Normalize()])
    write_case("prompt_left_out", [Pooling(WIDTH, ("cls", "max", "mean", "weightedmean"), include_prompt=False)], change=add_prompt)
    write_case("prompt_left_out_first", [Pooling(WIDTH, "cls", include_prompt=False)], change=add_prompt)
    write_case("older_flags", [Pooling(WIDTH, ("max", "mean"))], change=use_older_flags)
    write_case("older_layout", [Pooling(WIDTH, "mean_sqrt_len_tokens")], change=move_transformer)
    write_case("no_modules", None)
    write_sparse_case("bert", "Bert", splade={}, hidden_act="relu")
    write_sparse_case("distilbert_older_sum", "DistilBert", change=use_older_splade,
                      splade={"pooling_strategy": "sum", "activation_function": "log1p_relu"})
    write_sparse_case("mpnet", "MPNet", splade={"activation_function": "log1p_relu"})
    write_sparse_case("roberta_bare_untied", "Roberta", tie_word_embeddings=False, hidden_act="relu")
    write_sparse_case("modernbert_bare", "ModernBert", local_attention=8, norm_bias=True, classifier_bias=True)
    write_sparse_case("bert_bare", "Bert")
    write_m3_case()
    for path in (*FOLDER.rglob("*"), *SPARSE_FOLDER.rglob("*")):
        if path.name in ("README.md", ".gitattributes"):
            path.unlink()
        elif path.is_file():
            path.chmod(0o644)


if __name__ == "__main__":
    main()
