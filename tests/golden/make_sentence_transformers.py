#!/usr/bin/env python3
"""Makes tests/golden/sentence_transformers: tiny random sentence-transformers folders, and the library's embeddings.

    pip install -r requirements.txt
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
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules.dense import Dense
from sentence_transformers.base.modules.normalize import Normalize
from sentence_transformers.base.modules.transformer import Transformer
from sentence_transformers.sentence_transformer.modules.pooling import Pooling
from transformers import BertConfig, BertModel, BertTokenizer, DistilBertConfig, DistilBertModel

FOLDER = Path(__file__).parent / "sentence_transformers"
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
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    BertTokenizer.from_pretrained(folder, do_lower_case=True, model_max_length=32).save_pretrained(folder)


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
    expected = {"texts": TEXTS, "embeddings": [[float(f"{x:.8g}") for x in row] for row in embeddings.tolist()]}
    (FOLDER / name / "expected.json").write_text(json.dumps(expected, ensure_ascii=False) + "\n", encoding="utf-8")


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
    shutil.rmtree(FOLDER, ignore_errors=True)
    write_case("mean_normalized", [Pooling(WIDTH, "mean"), Normalize()], max_length=20)
    write_case("first_token", [Pooling(WIDTH, "cls")], kind="distilbert")
    write_case("max_and_mean_dense", [Pooling(WIDTH, ("max", "mean")), Dense(2 * WIDTH, 6), Normalize()])
    write_case("weighted_mean", [Pooling(WIDTH, "weightedmean")], max_length=9)
    write_case("last_token_dense", [Pooling(WIDTH, "lasttoken"),
                                    Dense(WIDTH, 5, bias=False, activation_function=torch.nn.Identity())])
    write_case("older_flags", [Pooling(WIDTH, ("max", "mean"))], change=use_older_flags)
    write_case("older_layout", [Pooling(WIDTH, "mean_sqrt_len_tokens")], change=move_transformer)
    write_case("no_modules", None)
    for path in FOLDER.rglob("*"):
        if path.name in ("README.md", ".gitattributes"):
            path.unlink()
        elif path.is_file():
            path.chmod(0o644)


if __name__ == "__main__":
    main()
