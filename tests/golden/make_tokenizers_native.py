#!/usr/bin/env python3
"""Makes the golden test data in tests/golden/tokenizer_native: tiny tokenizers of every family, in the files in which the
family is published, and the results of transformers' AutoTokenizer with them for the texts of texts.json.

Every folder FAMILY holds tokenizer files, config.json, and expected.json with:
    source, target   [{"language": code or "", "ids": [ids of each text]}]; a shorter list of ids is that of the first texts
    target_is_source whether targets have the same ids as sources if no language is given
    pieces           pieces of the source ids of the first texts
    decode           decoded source ids of each text, without special tokens
    decode_ids       [[ids], "text"]: random ids and their decoded text

nllb_listed lists its languages with their ids, like published checkpoints: transformers 5.23 drops the languages of a folder
that has only a sentencepiece model.
"""

import json
import random
import shutil
from pathlib import Path

import maker
import sentencepiece
import tokenizers
import transformers
from transformers import AutoTokenizer
from transformers.models.whisper.tokenization_whisper import LANGUAGES

from maker.tokenizers import learn_merges, merges_file, train_sentencepiece
from packed import pack

ROOT = Path(__file__).parent / "tokenizer_native"
TEXTS = json.loads((ROOT / "texts.json").read_text(encoding="utf-8"))
SOME_TEXTS = 12  # number of texts that are also encoded for every other language

CORPUS = """
The quick brown fox jumps over the lazy dog, and the dog does not care at all.
A model reads a sentence, makes vectors of its words, and writes another sentence in another language.
Translation is an art; the machine's translation isn't always good, but it's quick, cheap and never tired.
She said: "I'll come tomorrow at 10:30, don't wait for me!" They've waited since 1984, we're told.
Le chat noir dort sur la chaise près de la fenêtre, où l'été passe lentement. Ça va très bien, merci.
Der schöne Käfer läuft über die Straße; größere Häuser müssen später gebaut werden.
El niño comió una manzana y después jugó al fútbol en el jardín. ¿Qué hora es? ¡Ya es tarde!
Быстрая коричневая лиса прыгает через ленивую собаку. Мы читаем книги каждый день.
def add(first, second): return first + second  # the sum of two numbers
public static int main(String[] args) { int[] values = {1, 2, 3}; return values.length; }
for (int i = 0; i < 10; ++i) { total += i * 2; } print("the total is", total)
我们今天去图书馆看书。机器翻译很有用。日本語の文章も少しあります。
Words, words, words: word by word the words become a sentence. 12 34 56 78 90 100 2000
un deux trois quatre cinq six sept huit neuf dix one two three four five six seven eight nine ten
""".strip().split("\n")

# A small normalisation table instead of nmt_nfkc's 240 KB.
RULES = {"ﬁ": "fi", "½": "1⁄2", "①": "1", "™": "TM", "…": "...", "\t": " ", "\n": " ", "\r": " ", "\u00a0": " ",
         "\u3000": " ", "\u200b": " ", "\u00ad": "", "\ufeff": "", "e\u0300": "è", "e\u0301": "é", "e\u0302": "ê",
         "ｶﾞ": "ガ", "Ａ": "A", "Ｂ": "B", "Ｃ": "C", "１": "1", "２": "2", "３": "3", "İ": "I", "\x01": "", "\x7f": ""}


def train(rules=RULES, vocab_size=300, **options):
    return train_sentencepiece(CORPUS, rules, vocab_size=vocab_size, character_coverage=0.995, **options)


T5_IDS = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}


def vocab_json(pieces):
    return json.dumps({piece: i for i, piece in enumerate(pieces)}, ensure_ascii=False)


def byte_level_files(specials):
    """Returns vocab.json and merges.txt. `specials` maps ids to special tokens; a negative id means the end."""
    split = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    merges = learn_merges((word for line in CORPUS for word, _ in split.pre_tokenize_str(line)), 244)
    pieces = sorted(split.alphabet()) + ["".join(merge) for merge in merges]
    for index, token in sorted(specials.items()):
        pieces.insert(index if index >= 0 else len(pieces), token)
    return {"vocab.json": vocab_json(pieces), "merges.txt": merges_file(merges)}


def word_piece_files(lowercase, special=("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")):
    normalizer = tokenizers.normalizers.BertNormalizer(lowercase=lowercase)
    split = tokenizers.pre_tokenizers.BertPreTokenizer()
    words = [word for line in CORPUS for word, _ in split.pre_tokenize_str(normalizer.normalize_str(line))]
    parts = sorted({c for word in words for c in word}) + ["".join(merge) for merge in learn_merges(words, 150)]
    return {"vocab.txt": "".join(piece + "\n" for piece in [*special, *parts, *("##" + part for part in parts)])}


def blenderbot_small_files():
    """Returns the files of a BPE that is trained on lower-case words. merges.txt marks the end of a word by </w>; vocab.json
    marks the other pieces by @@ instead."""
    words = [list(word[:-1]) + [word[-1] + "</w>"] for line in CORPUS for word in line.lower().split()]
    merges = learn_merges(words, 200)
    pieces = sorted({symbol for word in words for symbol in word}) + ["".join(merge) for merge in merges]
    marked = [piece.removesuffix("</w>") if piece.endswith("</w>") else piece + "@@" for piece in pieces]
    specials = ["__null__", "__start__", "__end__", "__unk__", "__newln__"]
    return {"vocab.json": vocab_json(specials + marked), "merges.txt": merges_file(merges)}


def m2m_vocabulary(model):
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    pieces = [processor.id_to_piece(i) for i in range(3, processor.get_piece_size())]
    return vocab_json(["<s>", "<pad>", "</s>", "<unk>"] + [piece for piece in pieces if piece != "q"])  # lacks "q" on purpose


class Folder:
    """The folder of a family."""

    def __init__(self, name, model_type, files, config=None, **more_config_json):
        self.path, self.model_type = ROOT / name, model_type
        self.path.mkdir()
        settings = {} if config is None else {"tokenizer_config.json": config}
        for file, content in ({"config.json": {"model_type": model_type} | more_config_json} | files | settings).items():
            self.write(file, content)

    def write(self, file, content):
        if not isinstance(content, bytes | str):
            content = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
        (self.path / file).write_bytes(content.encode() if isinstance(content, str) else content)

    def expect(self, sources=(), targets=(), plain_target=True):
        """Writes expected.json, also for languages of sources and of targets, and returns the folder."""
        tokenizer = AutoTokenizer.from_pretrained(self.path)
        all_ids = [tokenizer(text).input_ids for text in TEXTS]
        target_ids = [tokenizer(text_target=t).input_ids for t in TEXTS] if plain_target else all_ids
        source = [{"language": "", "ids": all_ids}]
        target = [] if target_ids == all_ids else [{"language": "", "ids": target_ids}]
        for languages, role, argument, found in (sources, "src_lang", "text", source), (targets, "tgt_lang", "text_target", target):
            for language in languages:
                own = AutoTokenizer.from_pretrained(self.path)
                if isinstance(own, transformers.WhisperTokenizer):
                    own.set_prefix_tokens(language=language)
                setattr(own, role, language)
                ids = [own(**{argument: text}).input_ids for text in TEXTS[:SOME_TEXTS]]
                found.append({"language": language, "ids": ids})
        generator = random.Random(self.path.name)
        known = sorted(set(tokenizer.get_vocab().values()))
        drawn = [[generator.choice(known) for _ in range(generator.randrange(1, 20))] for _ in range(12)]
        decode = lambda ids: tokenizer.decode(ids, skip_special_tokens=True)
        expected = {"class": type(tokenizer).__name__, "source": source,
                    "target_is_source": plain_target and target_ids == all_ids, "target": target,
                    "pieces": [tokenizer.convert_ids_to_tokens(ids) for ids in all_ids[:SOME_TEXTS]],
                    "decode": [decode(ids) for ids in all_ids], "decode_ids": [[ids, decode(ids)] for ids in drawn]}
        text = json.dumps(expected, ensure_ascii=False, separators=(",", ":"))
        self.write("expected.json", text.replace("],", "],\n") + "\n")
        return self

    def saved(self, name, config=None, change=lambda content: None):
        """Returns another folder, written with save_pretrained: tokenizer.json, which `change` changes, and
        tokenizer_config.json, with more keys from `config`."""
        copy = Folder(name, self.model_type, {})
        AutoTokenizer.from_pretrained(self.path).save_pretrained(copy.path)
        content = json.loads((copy.path / "tokenizer.json").read_text(encoding="utf-8"))
        change(content)
        copy.write("tokenizer.json", json.dumps(content, ensure_ascii=False, separators=(",", ":")))
        if config is not None:
            stored = json.loads((copy.path / "tokenizer_config.json").read_text())
            copy.write("tokenizer_config.json", stored | config)
        return copy


def join_spaces(content):
    return {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": content}


def as_first_published(content):
    """Changes tokenizer.json to the form of conversions by transformers 4: no Replace normalizer, a split at whitespace before
    Metaspace, and the old form of Metaspace."""
    normalizer = content["normalizer"]
    if normalizer and normalizer["type"] == "Sequence":
        content["normalizer"] = normalizer["normalizers"][0]
    metaspace = {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}
    content["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]}
    content["decoder"] = metaspace


def as_later_published(content):
    """Changes tokenizer.json to the form of later conversions by transformers 4, in which the normalizer handles spaces."""
    first = [content["normalizer"]] * bool(content["normalizer"])
    strip = {"type": "Strip", "strip_left": False, "strip_right": True}
    content["normalizer"] = {"type": "Sequence", "normalizers": [*first, strip, join_spaces("▁")]}
    content["pre_tokenizer"] = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    content["decoder"] = content["pre_tokenizer"]


def as_saved_by_4(content):
    """Changes DeBERTa's tokenizer.json to the form of transformers 4."""
    strip = {"type": "Strip", "strip_left": True, "strip_right": True}
    content["normalizer"] = {"type": "Sequence", "normalizers": [strip, join_spaces(" ")]}


def with_end_token(content):
    parts = [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}]
    special = {"</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]}}
    content["post_processor"] = {"type": "TemplateProcessing", "single": parts, "pair": parts, "special_tokens": special}


def make_t5():
    table = train(**T5_IDS)
    named = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    sentinels = [f"<extra_id_{i}>" for i in range(125)]
    config = {"tokenizer_class": "T5Tokenizer", "extra_ids": 100, "additional_special_tokens": sentinels[:100]} | named
    Folder("t5_bare", "t5", {"spiece.model": table}).expect()
    t5 = Folder("t5", "t5", {"spiece.model": table}, config).expect()
    t5.saved("t5_saved").expect()
    t5.saved("t5_published", change=as_later_published).expect()
    t5.model_type = "umt5"
    t5.saved("umt5", change=as_later_published).expect()
    mt5 = {"tokenizer_class": "T5Tokenizer", "extra_ids": 0, "additional_special_tokens": None} | named
    Folder("mt5", "mt5", {"spiece.model": train("nmt_nfkc", 180, **T5_IDS)}, mt5, tokenizer_class="T5Tokenizer").expect()
    byt5 = {"extra_ids": 125, "additional_special_tokens": sentinels} | named
    Folder("byt5", "t5", {}, byt5, tokenizer_class="ByT5Tokenizer").expect()


def make_deberta():
    """transformers 5.23 ignores the normalisation of the sentencepiece model."""
    pieces = {f"{name}_id": i for i, name in enumerate(("pad", "bos", "eos", "unk"))}
    pieces |= {f"{name}_piece": f"[{text}]" for name, text in (("pad", "PAD"), ("bos", "CLS"), ("eos", "SEP"), ("unk", "UNK"))}
    files = {"spm.model": train(**pieces)}
    deberta = Folder("deberta", "deberta-v2", files, {"do_lower_case": False, "vocab_type": "spm"}).expect()
    deberta.saved("deberta_published", change=as_saved_by_4).expect()
    split = {"do_lower_case": True, "split_by_punct": True, "add_prefix_space": False}
    Folder("deberta_split", "deberta-v2", files, split).expect()


def make_byte_level():
    fairseq = byte_level_files({0: "<s>", 1: "<pad>", 2: "</s>", 3: "<unk>", -1: "<mask>"})
    Folder("bart", "bart", fairseq).expect().saved("bart_saved").expect()
    flags = {"lstrip": True, "normalized": True, "rstrip": False, "single_word": False}
    mask = {"__type": "AddedToken", "content": "<mask>"} | flags
    roberta = {"tokenizer_class": "RobertaTokenizer", "add_prefix_space": True, "mask_token": mask}
    Folder("roberta", "roberta", fairseq, roberta).expect()
    gpt2 = byte_level_files({-1: "<|endoftext|>"})
    Folder("gpt2", "gpt2", gpt2, {"model_max_length": 1024}).expect()
    opt = {"tokenizer_class": "GPT2Tokenizer", "add_bos_token": True, "bos_token": "</s>", "eos_token": "</s>"}
    Folder("opt", "opt", fairseq, opt | {"unk_token": "</s>", "pad_token": "<pad>"}).expect()
    blenderbot = Folder("blenderbot", "blenderbot", fairseq, {"tokenizer_class": "BlenderbotTokenizer"}).expect()
    blenderbot.saved("blenderbot_published", change=with_end_token).expect()
    Folder("blenderbot_small", "blenderbot-small", blenderbot_small_files()).expect()


def whisper_tokens(languages, times):
    """Returns Whisper's special tokens and the tokens of times."""
    names = ["endoftext", "startoftranscript", *languages, "translate", "transcribe", "startoflm", "startofprev", "nospeech"]
    return [f"<|{name}|>" for name in (*names, "notimestamps")], [f"<|{i * 0.02:.2f}|>" for i in range(times)]


def make_whisper():
    """Writes Whisper's tokenizer in its published form (vocab.json with the texts, other files with the other tokens), and as
    saved by transformers."""
    specials, times = whisper_tokens(LANGUAGES, 50)
    files = byte_level_files({-1: "<|endoftext|>"})
    vocabulary = json.loads(files["vocab.json"])
    # The vocabularies of multilingual models have an empty text.
    vocabulary |= {"": vocabulary["<|endoftext|>"], "<|endoftext|>": len(vocabulary)}
    files["vocab.json"] = json.dumps(vocabulary, ensure_ascii=False)
    files["added_tokens.json"] = {token: len(vocabulary) + i for i, token in enumerate([*specials[1:], *times])}
    named = {f"{role}_token": "<|endoftext|>" for role in ("bos", "eos", "unk")}
    config = {"tokenizer_class": "WhisperTokenizer", "additional_special_tokens": specials} | named
    whisper = Folder("whisper", "whisper", files, config).expect(["fr", "german", "yue"])
    # Timestamps are not special tokens, but decoding leaves them out too.
    whisper.saved("whisper_saved").expect(["es"])
    whisper.saved("whisper_told", {"language": "de", "task": "translate", "predict_timestamps": True}).expect()


def make_fairseq():
    table = train()
    plain = train("identity")
    bpe = train(model_type="bpe")
    name = "sentencepiece.bpe.model"
    xlm = Folder("xlm_roberta", "xlm-roberta", {name: table}).expect()
    xlm.saved("xlm_roberta_published", change=as_later_published).expect()
    Folder("camembert", "camembert", {name: table}).expect().saved("camembert_saved").expect()

    control = {"pad_id": 0, "unk_id": 1, "bos_id": -1, "eos_id": -1, "control_symbols": "[CLS],[SEP],[MASK]"}
    Folder("albert", "albert", {"spiece.model": train(**control)}).expect().saved("albert_saved").expect()
    kept = {"tokenizer_class": "AlbertTokenizer", "keep_accents": True, "do_lower_case": False}
    Folder("albert_kept", "albert", {"spiece.model": train("identity", 180, **control)}, kept).expect()

    mbart = {"tokenizer_class": "MBartTokenizer", "src_lang": "en_XX", "tgt_lang": "ro_RO"}
    Folder("mbart", "mbart", {name: table}, mbart).expect(["fr_XX"], ["de_DE", "zh_CN"])
    mbart50 = {"tokenizer_class": "MBart50Tokenizer", "src_lang": None, "tgt_lang": None}
    folder = Folder("mbart50", "mbart", {name: table}, mbart50).expect(["fr_XX", "sl_SI"], ["de_DE"])
    languages = {"src_lang": "de_DE", "tgt_lang": "fr_XX"}
    folder.saved("mbart50_published", languages, as_first_published).expect(["en_XX"], ["gl_ES"])

    languages = list(transformers.models.nllb.tokenization_nllb.FAIRSEQ_LANGUAGE_CODES)
    first = sentencepiece.SentencePieceProcessor(model_proto=bpe).get_piece_size() + 1
    ids = {str(first + i): {"content": language, "special": True} for i, language in enumerate(languages + ["<mask>"])}
    listed = {"tokenizer_class": "NllbTokenizer", "src_lang": "fra_Latn", "tgt_lang": "eng_Latn",
              "additional_special_tokens": languages, "added_tokens_decoder": ids}  # fmt: skip
    folder = Folder("nllb_listed", "m2m_100", {name: bpe}, listed).expect(["deu_Latn"], ["zul_Latn"])
    folder.saved("nllb_saved").expect(["deu_Latn"], ["zul_Latn"])
    folder.saved("nllb_legacy", {"legacy_behaviour": True}).expect(["deu_Latn"], ["zul_Latn"])

    languages = [f"__{code}__" for code in transformers.models.m2m_100.tokenization_m2m_100.FAIRSEQ_LANGUAGE_CODES["m2m100"]]
    files = {name: bpe, "vocab.json": m2m_vocabulary(bpe)}
    Folder("m2m_100", "m2m_100", files, {"tokenizer_class": "M2M100Tokenizer"}).expect(["fr", "zu"], ["de"], False)
    listed = {"tokenizer_class": "M2M100Tokenizer", "src_lang": "fr", "tgt_lang": "en", "additional_special_tokens": languages}
    Folder("m2m_100_listed", "m2m_100", files, listed).expect(["de"], ["af"])

    plbart = {"tokenizer_class": "PLBartTokenizer", "language_codes": "base"}
    Folder("plbart_base", "plbart", {name: plain}, plbart).expect(["java", "__en_XX__"], ["python"])
    plbart = {"tokenizer_class": "PLBartTokenizer", "language_codes": "multi", "src_lang": "java", "tgt_lang": "en_XX"}
    Folder("plbart_multi", "plbart", {name: plain}, plbart).expect(["php"], ["go"])


def make_pegasus():
    files = {"spiece.model": train(**T5_IDS)}
    config = {"tokenizer_class": "PegasusTokenizer", "mask_token": "<mask_2>", "mask_token_sent": "<mask_1>"}
    Folder("pegasus", "pegasus", files, config).expect().saved("pegasus_published", change=as_first_published).expect()
    Folder("pegasus_bare", "pegasus", files).expect()


def make_bert():
    uncased = Folder("bert_uncased", "bert", word_piece_files(True)).expect()
    uncased.saved("distilbert_saved", {"tokenizer_class": "DistilBertTokenizer"}).expect()
    cased = {"do_lower_case": False, "clean_up_tokenization_spaces": True, "tokenizer_class": "BertTokenizer"}
    Folder("bert_cased", "bert", word_piece_files(False), cased).expect()
    Folder("electra", "electra", word_piece_files(True)).expect()
    mpnet = word_piece_files(True, ("<s>", "<pad>", "</s>", "[UNK]", "<mask>"))
    Folder("mpnet", "mpnet", mpnet).expect().saved("mpnet_saved").expect()
    sentences = uncased.saved("sentence_transformers", {"strip_accents": False})
    sentences.write("modules.json", [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}])
    sentences.write("sentence_bert_config.json", {"max_seq_length": 128, "do_lower_case": False})
    sentences.expect()


def main():
    maker.prepare()
    shutil.rmtree(ROOT)
    ROOT.mkdir()
    maker.write_json(ROOT / "texts.json", TEXTS, indent=0)
    for make in make_t5, make_byte_level, make_whisper, make_fairseq, make_pegasus, make_bert, make_deberta:
        make()
    pack(ROOT)


if __name__ == "__main__":
    main()
