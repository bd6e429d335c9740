#!/usr/bin/env python3
"""Makes sentence_transformers/ and sparse_encoders/: tiny random sentence-transformers folders, and the library's embeddings.
Every case is a packed folder: model/ as saved by the library, and expected.json with texts and their embeddings.
"""

import json
import shutil
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[4] / "tests/golden"))
import maker
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
from transformers import BertTokenizer, PreTrainedTokenizerFast

from packed import pack

FOLDER = Path(__file__).parent / "sentence_transformers"
SPARSE_FOLDER = Path(__file__).parent / "sparse_encoders"
WIDTH = 16
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,!?"
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *("##" + letter for letter in LETTERS[:36]), "the", "##ing"]
TEXTS = ["the cat sat on a mat.", "Singing in the rain!", "", "a",
         "An unknown ☃ and much more text than the model can take, so that it is cut off at the end, 1 2 3 4 5 6 7 8 9",
         "  spaces   and\ttabs "]


def randomize(module, seed):
    """Sets every weight to random values, also those of norms and biases."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            centre = 1.0 if "LayerNorm.weight" in name or "layer_norm.weight" in name else 0.0
            parameter.copy_(centre + 0.3 * torch.randn(parameter.shape, generator=generator))
    return module.eval()


def config_of(kind, layers=1, **more):
    """Returns a small configuration of transformers' class KINDConfig."""
    common = {"vocab_size": len(VOCABULARY), "max_position_embeddings": 40}
    if kind == "DistilBert":
        common |= {"dim": WIDTH, "n_layers": 1, "n_heads": 2, "hidden_dim": 24}
    else:
        common |= {"hidden_size": WIDTH, "num_hidden_layers": layers, "num_attention_heads": 2, "intermediate_size": 24}
    return getattr(transformers, kind + "Config")(**common | more)


def new_folder(folder, name):
    path = folder / name / "model"
    path.mkdir(parents=True)
    return path


def new_model(root, name, make, config, write_tokenizer):
    """Returns a new folder with a tokenizer and the model make(config) with random weights."""
    folder = new_folder(root, name)
    config.vocab_size = write_tokenizer(folder) or config.vocab_size
    randomize(make(config), seed=sum(folder.parent.name.encode())).save_pretrained(folder)
    return folder


def write_expected(model_folder, expected):
    maker.write_json(model_folder.parent / "expected.json", expected, indent=None, ensure_ascii=False)


def save(library_class, modules, folder, **options):
    library_class(modules=modules, **options).save(str(folder), create_model_card=False)


def embeddings(folder):
    return rounded(SentenceTransformer(str(folder), device="cpu").encode(TEXTS, batch_size=1).tolist())


def rounded(values):
    return [rounded(each) if isinstance(each, list) else float(f"{each:.8g}") for each in values]


def write_case(name, modules, kind="Bert", max_length=None, change=None):
    folder = new_model(FOLDER, name, getattr(transformers, kind + "Model"), config_of(kind), write_word_pieces)
    if modules is not None:
        transformer = Transformer(str(folder), max_seq_length=max_length)
        save(SentenceTransformer, [transformer, *(randomize(module, 5) for module in modules)], folder)
    if change:
        change(folder)
    write_expected(folder, {"texts": TEXTS, "embeddings": embeddings(folder)})


def write_word_pieces(folder, tokenizer_class=BertTokenizer):
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    tokenizer_class.from_pretrained(folder, do_lower_case=True, model_max_length=32).save_pretrained(folder)


def write_sparse_case(name, kind, splade=None, change=None, **options):
    """Writes a masked language model: a folder with SpladePooling or, without `splade`, a bare one."""
    config = config_of(kind, pad_token_id=0, **options)
    folder = new_model(SPARSE_FOLDER, name, getattr(transformers, kind + "ForMaskedLM"), config, write_word_pieces)
    if splade is not None:
        save(SparseEncoder, [Transformer(str(folder), transformer_task="fill-mask"), SpladePooling(**splade)], folder)
    if change:
        change(folder)
    expected = {"texts": TEXTS, "vectors": []}
    for vector in SparseEncoder(str(folder), device="cpu").encode(TEXTS, batch_size=1, convert_to_tensor=True).to_dense():
        ids = vector.nonzero().flatten().tolist()
        expected["vectors"].append({"ids": ids, "values": rounded(vector[ids].tolist())})
    write_expected(folder, expected | ({"embeddings": embeddings(folder)} if splade is None else {}))


def scored(*special):
    """Returns the subwords of a small unigram model, with their scores."""
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
    """Writes a model in the format of BGE-M3. Expected values follow FlagEmbedding (inference/embedder/encoder_only/m3.py)."""
    folder = new_folder(SPARSE_FOLDER, "bge_m3")
    vocabulary = write_pieces(folder, cls_token="<s>")
    config = config_of("XLMRoberta", vocab_size=vocabulary, type_vocab_size=1)
    randomize(transformers.XLMRobertaModel(config), 11).save_pretrained(folder)
    save(SentenceTransformer, [Transformer(str(folder)), Pooling(WIDTH, "cls"), Normalize()], folder)
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
        expected["colbert"].append(rounded(vectors.tolist()))
    write_expected(folder, expected | {"embeddings": embeddings(folder)})


def change_json(path, change):
    content = json.loads(path.read_text())
    change(content)
    maker.write_json(path, content)


def rename_modules(folder, package, **names):
    def change(modules):
        for module in modules:
            name = module["type"].rsplit(".", 1)[1]
            module["type"] = f"{package}.{names.get(name, name)}"
    change_json(folder / "modules.json", change)


def use_older_splade(folder):
    """Rewrites the folder in the format of version 5.3 and earlier: the class MLMTransformer."""
    rename_modules(folder, "sentence_transformers.sparse_encoder.models", Transformer="MLMTransformer")
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 20, "do_lower_case": false}\n')


def use_older_flags(folder):
    """Rewrites the folder in the format of version 5 and earlier: a flag for each kind of pooling."""
    flags = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")
    config = {"word_embedding_dimension": WIDTH}
    config |= {f"pooling_mode_{flag}": flag in ("max_tokens", "mean_tokens") for flag in flags}
    maker.write_json(next(folder.glob("*Pooling/config.json")), config)
    rename_modules(folder, "sentence_transformers.models")


def add_prompt(folder):
    prompt = {"prompts": {"query": "the query: "}, "default_prompt_name": "query"}
    change_json(folder / "config_sentence_transformers.json", lambda config: config.update(prompt))


def move_transformer(folder):
    """Rewrites the folder in the format of version 0: the Transformer has its own folder."""
    inside = folder / "0_Transformer"
    inside.mkdir()
    for path in list(folder.iterdir()):
        if path.is_file() and not path.name.startswith(("modules", "config_sentence")):
            path.rename(inside / path.name)
    change_json(folder / "modules.json", lambda modules: modules[0].update(path=inside.name))


def main():
    maker.prepare()
    for folder in (FOLDER, SPARSE_FOLDER):
        shutil.rmtree(folder, ignore_errors=True)
    write_case("mean_normalized", [Pooling(WIDTH, "mean"), Normalize()], max_length=20)
    write_case("first_token", [Pooling(WIDTH, "cls")], kind="DistilBert")
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
    for folder in (FOLDER, SPARSE_FOLDER):
        for path in [*folder.rglob("README.md"), *folder.rglob(".gitattributes")]:
            path.unlink()
        pack(folder)


if __name__ == "__main__":
    main()
