#!/usr/bin/env python3
"""Makes the golden test data in tests/golden/tokenizer_native: tiny tokenizers of every family, in the files in which the
family is published, and the results of transformers' AutoTokenizer with them.

    pip install -r requirements.txt      # sentencepiece 0.2.3, tokenizers 0.23.3, transformers 5.23.0
    python make_tokenizers_native.py     # CPU only, a few seconds

texts.json is a list of texts. Every folder FAMILY holds tokenizer files, config.json, and expected.json with:
    source, target   [{"language": code or "", "ids": [ids of each text]}]; a shorter list of ids is that of the first texts
    target_is_source whether targets have the same ids as sources if no language is given
    pieces           pieces of the source ids of the first texts
    decode           decoded source ids of each text, without special tokens
    decode_ids       [[ids], "text"]: random ids and their decoded text

nllb_listed lists its languages with their ids, like published checkpoints: transformers 5.23 drops the languages of a folder
that has only a sentencepiece model.
"""

import collections
import io
import json
import os
import random
import shutil
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import sentencepiece
import tokenizers
import transformers
from transformers import AutoTokenizer
from transformers.convert_slow_tokenizer import import_protobuf
from transformers.models.whisper.tokenization_whisper import LANGUAGES

HERE = Path(__file__).parent
ROOT = HERE / "tokenizer_native"
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

TEXTS = [
    "Hello world!",
    "The quick brown fox jumps over the lazy dog.",
    "",
    " ",
    "   leading, trailing and  double   spaces  ",
    "It isn't John's, they've said; we're told 'no' . Is it ? Yes , it is !",
    "Le chat dort près de la fenêtre, où l'été passe.",
    "Le chat pre\u0300s de la fene\u0302tre cafe\u0301",
    "Straße, STRASSE, größere Häuser",
    "İstanbul ışık, ΟΔΥΣΣΕΥΣ σας Σ",
    "Быстрая лиса. Привет, мир!",
    "我们今天去图书馆看书。日本語の文章",
    "line one\nline two\r\nthree\ttab\n\n",
    "مرحبا بالعالم ١٢٣",
    "हिन्दी में लिखा १२३ और ক্ষ",
    "สวัสดีชาวโลก",
    "한국어 텍스트 \u1112\u1161\u11ab\u1100\u116e\u11a8",
    "emoji 😀 👩\u200d👧 👍🏽 🇫🇷🇩🇪 ❤\ufe0f",
    "ﬁnance ½ ① ™ ＡＢＣ　１２３ ｶﾞ …",
    "zero\u200bwidth\ufeffand\u00adsoft\u2060marks",
    "control\x01\x1f\x7f\x85chars\x1cand\x0bmore\u2028sep",
    "nbsp\u00a0and\u3000wide\u2009thin",
    "\u0301\u0308 lone marks \u20dd",
    "1234567890 12 3.14 1,000,000 IV ⅷ",
    "word" * 40,
    "x" * 120,
    "def add(first, second):\n    return first + second  # sum",
    'public int main(String[] args) { return "a\\n".length(); }',
    "</s> in the text <s>and</s> here<pad>and <unk> too",
    "a <mask> b<mask>c  <mask>  d [MASK] e[MASK]f <|endoftext|> g",
    "[CLS] hello [SEP] [UNK] [PAD] world",
    "<extra_id_0> first <extra_id_1>second<extra_id_99><extra_id_3> .",
    "fr_XX en_XX bonjour fra_Latn __fr__ __en__ hello __java__ code__python__ __en_XX__",
    "▁already ▁▁ marked▁",
    "__start__ hi __end__ there __unk__ __null__ __newln__",
    "What?! (Really...) 'quoted' \"text\" - a/b\\c @@ @@@ a@@ b",
    "<n> newline <mask_1> <mask_2> <unk_2> <unk_102>",
    "under_score camelCase snake-case e-mail@example.com https://example.com/?q=1&x=y#z",
    "\U0010ffff \U00010348 \ue000 \ufffd",
    "<0x41> <0xE2><0x98><0x83>",
    "a\u0300\u0301\u0302\u0303 q\u0323\u0307 Ǆ ǆ ŉ ẞ ß",
    "ends with space ",
    "ends with mark <mask>",
    "don 't do n't I 'm he 's we 've they 're .",
]

RULES = [  # a small normalisation table instead of nmt_nfkc's 240 KB
    ("ﬁ", "fi"), ("½", "1⁄2"), ("①", "1"), ("™", "TM"), ("…", "..."), ("\t", " "), ("\n", " "), ("\r", " "), ("\u00a0", " "),
    ("\u3000", " "), ("\u200b", " "), ("\u00ad", ""), ("\ufeff", ""), ("e\u0300", "è"), ("e\u0301", "é"), ("e\u0302", "ê"),
    ("ｶﾞ", "ガ"), ("Ａ", "A"), ("Ｂ", "B"), ("Ｃ", "C"), ("１", "1"), ("２", "2"), ("３", "3"), ("İ", "I"), ("\x01", ""), ("\x7f", ""),
]  # fmt: skip


def train(vocab_size=300, **options):
    """Returns a trained sentencepiece model as bytes. The option `rules` is "table" for RULES, or sentencepiece's name of a
    normalisation."""
    rules = options.pop("rules", "identity")
    model = io.BytesIO()
    if rules == "table":
        path = Path("/tmp/encdec_rules.tsv")
        path.write_text("".join(f"{codes(a)}\t{codes(b)}\n" for a, b in RULES), encoding="utf-8")
        options["normalization_rule_tsv"] = str(path)
    else:
        options["normalization_rule_name"] = rules
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS),
        model_writer=model,
        vocab_size=vocab_size,
        hard_vocab_limit=False,
        character_coverage=0.995,
        num_threads=1,
        minloglevel=2,
        **options,
    )
    proto = import_protobuf().ModelProto()
    proto.ParseFromString(model.getvalue())
    if rules == "table":
        path.unlink()
        proto.trainer_spec.ClearField("input")
        proto.normalizer_spec.ClearField("normalization_rule_tsv")
    return proto.SerializeToString()


def codes(text):
    return " ".join(f"{ord(c):X}" for c in text)


T5_IDS = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}


def learn_merges(words, count):
    """Returns the `count` most frequent merges of words, which are lists of symbols. (The trainers of tokenizers choose
    randomly among equally frequent merges.)"""
    words = collections.Counter(tuple(word) for word in words)
    merges = []
    for _ in range(count):
        pairs = collections.Counter()
        for word, times in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += times
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        merged = collections.Counter()
        for word, times in words.items():
            symbols = []
            for symbol in word:
                if symbols and (symbols[-1], symbol) == best:
                    symbols[-1] += symbol
                else:
                    symbols.append(symbol)
            merged[tuple(symbols)] += times
        words = merged
    return merges


def merges_file(merges):
    return "#version: 0.2\n" + "".join(" ".join(merge) + "\n" for merge in merges)


def byte_level_files(specials):
    """Returns vocab.json and merges.txt. `specials` maps ids to special tokens; a negative id means the end."""
    split = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    words = [list(word) for line in CORPUS for word, _ in split.pre_tokenize_str(line)]
    merges = learn_merges(words, 244)
    pieces = sorted(split.alphabet()) + ["".join(merge) for merge in merges]
    for index, token in sorted(specials.items()):
        pieces.insert(index if index >= 0 else len(pieces), token)
    return {
        "vocab.json": json.dumps({piece: i for i, piece in enumerate(pieces)}, ensure_ascii=False),
        "merges.txt": merges_file(merges),
    }


def word_piece_files(lowercase, special=("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")):
    normalizer = tokenizers.normalizers.BertNormalizer(lowercase=lowercase)
    split = tokenizers.pre_tokenizers.BertPreTokenizer()
    words = [word for line in CORPUS for word, _ in split.pre_tokenize_str(normalizer.normalize_str(line))]
    merges = learn_merges([list(word) for word in words], 150)
    parts = sorted({c for word in words for c in word}) + ["".join(merge) for merge in merges]
    pieces = [*special] + parts + ["##" + part for part in parts]
    return {"vocab.txt": "".join(piece + "\n" for piece in pieces)}


def blenderbot_small_files():
    """Returns the files of a BPE that is trained on lower-case words. merges.txt marks the end of a word by </w>; vocab.json
    marks the other pieces by @@ instead."""
    words = [list(word[:-1]) + [word[-1] + "</w>"] for line in CORPUS for word in line.lower().split()]
    merges = learn_merges(words, 200)
    pieces = ["__null__", "__start__", "__end__", "__unk__", "__newln__"]
    for piece in sorted({symbol for word in words for symbol in word}) + ["".join(merge) for merge in merges]:
        pieces.append(piece[: -len("</w>")] if piece.endswith("</w>") else piece + "@@")
    return {
        "vocab.json": json.dumps({piece: i for i, piece in enumerate(pieces)}, ensure_ascii=False),
        "merges.txt": merges_file(merges),
    }


def m2m_vocabulary(model):
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    pieces = [processor.id_to_piece(i) for i in range(3, processor.get_piece_size())]
    pieces = ["<s>", "<pad>", "</s>", "<unk>"] + [piece for piece in pieces if piece != "q"]  # lacks "q" on purpose
    return json.dumps({piece: i for i, piece in enumerate(pieces)}, ensure_ascii=False)


class Folder:
    """The folder of a family."""

    def __init__(self, name, model_type, files, config=None, **more_config_json):
        self.path = ROOT / name
        self.path.mkdir(parents=True)
        self.write("config.json", {"model_type": model_type} | more_config_json)
        for file, content in files.items():
            self.write(file, content)
        if config is not None:
            self.write("tokenizer_config.json", config)

    def write(self, file, content):
        if isinstance(content, bytes):
            (self.path / file).write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=1) + "\n"
            (self.path / file).write_text(text, encoding="utf-8")

    def expect(self, sources=(), targets=(), plain_target=True):
        tokenizer = AutoTokenizer.from_pretrained(self.path)
        all_ids = [tokenizer(text).input_ids for text in TEXTS]
        source = [{"language": "", "ids": all_ids}]
        target_ids = [tokenizer(text_target=t).input_ids for t in TEXTS] if plain_target else all_ids
        target = [] if target_ids == all_ids else [{"language": "", "ids": target_ids}]
        for language in sources:
            own = AutoTokenizer.from_pretrained(self.path)
            if isinstance(own, transformers.WhisperTokenizer):
                own.set_prefix_tokens(language=language)
            own.src_lang = language
            source.append({"language": language, "ids": [own(text).input_ids for text in TEXTS[:SOME_TEXTS]]})
        for language in targets:
            own = AutoTokenizer.from_pretrained(self.path)
            own.tgt_lang = language
            target.append({"language": language, "ids": [own(text_target=t).input_ids for t in TEXTS[:SOME_TEXTS]]})
        generator = random.Random(self.path.name)
        known = sorted(set(tokenizer.get_vocab().values()))
        drawn = [[generator.choice(known) for _ in range(generator.randrange(1, 20))] for _ in range(12)]

        def decode(ids):
            return tokenizer.decode(ids, skip_special_tokens=True)

        self.write(
            "expected.json",
            json.dumps(
                {
                    "class": type(tokenizer).__name__,
                    "source": source,
                    "target_is_source": plain_target and target_ids == all_ids,
                    "target": target,
                    "pieces": [tokenizer.convert_ids_to_tokens(ids) for ids in all_ids[:SOME_TEXTS]],
                    "decode": [decode(ids) for ids in all_ids],
                    "decode_ids": [[ids, decode(ids)] for ids in drawn],
                },
                ensure_ascii=False,
                separators=(",", ":"),
            ).replace("],", "],\n")
            + "\n",
        )

    def saved(self, name, config=None):
        """Writes this tokenizer to another folder with save_pretrained: tokenizer.json and tokenizer_config.json."""
        copy = Folder(name, json.loads((self.path / "config.json").read_text())["model_type"], {})
        AutoTokenizer.from_pretrained(self.path).save_pretrained(copy.path)
        copy.change_json(lambda content: None)  # only removes the spaces of the JSON
        if config is not None:
            path = copy.path / "tokenizer_config.json"
            copy.write(path.name, json.loads(path.read_text()) | config)
        return copy

    def change_json(self, change):
        path = self.path / "tokenizer.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        change(content)
        self.write(path.name, json.dumps(content, ensure_ascii=False, separators=(",", ":")))


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
    content["normalizer"] = {
        "type": "Sequence",
        "normalizers": [content["normalizer"]] * bool(content["normalizer"])
        + [
            {"type": "Strip", "strip_left": False, "strip_right": True},
            {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "▁"},
        ],
    }
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    content["pre_tokenizer"] = metaspace
    content["decoder"] = metaspace


def make_t5():
    table = train(rules="table", **T5_IDS)
    named = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    sentinels = [f"<extra_id_{i}>" for i in range(100)]
    config = {"tokenizer_class": "T5Tokenizer", "extra_ids": 100, "additional_special_tokens": sentinels} | named
    bare = Folder("t5_bare", "t5", {"spiece.model": table})
    bare.expect()
    t5 = Folder("t5", "t5", {"spiece.model": table}, config)
    t5.expect()
    t5.saved("t5_saved").expect()
    later = t5.saved("t5_published")
    later.change_json(as_later_published)
    later.expect()
    umt5 = Folder("umt5", "umt5", {})
    for file in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(later.path / file, umt5.path / file)
    umt5.expect()
    nmt = train(rules="nmt_nfkc", vocab_size=180, **T5_IDS)
    mt5 = {"tokenizer_class": "T5Tokenizer", "extra_ids": 0, "additional_special_tokens": None} | named
    Folder("mt5", "mt5", {"spiece.model": nmt}, mt5, tokenizer_class="T5Tokenizer").expect()
    byt5 = {"extra_ids": 125, "additional_special_tokens": [f"<extra_id_{i}>" for i in range(125)]} | named
    Folder("byt5", "t5", {}, byt5, tokenizer_class="ByT5Tokenizer").expect()


def make_deberta():
    """transformers 5.23 ignores the normalisation of the sentencepiece model."""
    pieces = {f"{name}_id": i for i, name in enumerate(("pad", "bos", "eos", "unk"))}
    pieces |= {f"{name}_piece": f"[{text}]" for name, text in (("pad", "PAD"), ("bos", "CLS"), ("eos", "SEP"), ("unk", "UNK"))}
    files = {"spm.model": train(rules="table", **pieces)}
    deberta = Folder("deberta", "deberta-v2", files, {"do_lower_case": False, "vocab_type": "spm"})
    deberta.expect()
    published = deberta.saved("deberta_published")

    def as_saved_by_4(content):
        strip, join = {"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
        content["normalizer"] = {"type": "Sequence", "normalizers": [strip, join]}

    published.change_json(as_saved_by_4)
    published.expect()
    Folder("deberta_split", "deberta-v2", files, {"do_lower_case": True, "split_by_punct": True, "add_prefix_space": False}).expect()


def make_byte_level():
    fairseq = byte_level_files({0: "<s>", 1: "<pad>", 2: "</s>", 3: "<unk>", -1: "<mask>"})
    bart = Folder("bart", "bart", fairseq)
    bart.expect()
    bart.saved("bart_saved").expect()
    mask = {"__type": "AddedToken", "content": "<mask>", "lstrip": True, "normalized": True, "rstrip": False,
            "single_word": False}  # fmt: skip
    roberta = {"tokenizer_class": "RobertaTokenizer", "add_prefix_space": True, "mask_token": mask}
    Folder("roberta", "roberta", fairseq, roberta).expect()
    gpt2 = byte_level_files({-1: "<|endoftext|>"})
    Folder("gpt2", "gpt2", gpt2, {"model_max_length": 1024}).expect()
    opt = {"tokenizer_class": "GPT2Tokenizer", "add_bos_token": True, "bos_token": "</s>", "eos_token": "</s>",
           "unk_token": "</s>", "pad_token": "<pad>"}  # fmt: skip
    Folder("opt", "opt", fairseq, opt).expect()
    blenderbot = Folder("blenderbot", "blenderbot", fairseq, {"tokenizer_class": "BlenderbotTokenizer"})
    blenderbot.expect()
    published = blenderbot.saved("blenderbot_published")

    def end_token(content):
        content["post_processor"] = {
            "type": "TemplateProcessing",
            "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
            "special_tokens": {"</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]}},
        }

    published.change_json(end_token)
    published.expect()
    Folder("blenderbot_small", "blenderbot-small", blenderbot_small_files()).expect()


def make_whisper():
    """Writes Whisper's tokenizer in its published form (vocab.json with the texts, other files with the other tokens), and as
    saved by transformers."""
    specials = ["endoftext", "startoftranscript", *LANGUAGES, "translate", "transcribe", "startoflm", "startofprev"]
    specials = [f"<|{name}|>" for name in (*specials, "nospeech", "notimestamps")]
    times = [f"<|{i * 0.02:.2f}|>" for i in range(50)]
    files = byte_level_files({-1: "<|endoftext|>"})
    vocabulary = json.loads(files["vocab.json"])
    # The vocabularies of multilingual models have an empty text.
    vocabulary |= {"": vocabulary["<|endoftext|>"], "<|endoftext|>": len(vocabulary)}
    files["vocab.json"] = json.dumps(vocabulary, ensure_ascii=False)
    files["added_tokens.json"] = {token: len(vocabulary) + i for i, token in enumerate([*specials[1:], *times])}
    named = {f"{role}_token": "<|endoftext|>" for role in ("bos", "eos", "unk")}
    config = {"tokenizer_class": "WhisperTokenizer", "additional_special_tokens": specials} | named
    whisper = Folder("whisper", "whisper", files, config)
    whisper.expect(["fr", "german", "yue"])
    # Timestamps are not special tokens, but decoding leaves them out too.
    whisper.saved("whisper_saved").expect(["es"])
    whisper.saved("whisper_told", {"language": "de", "task": "translate", "predict_timestamps": True}).expect()


def make_fairseq():
    table = train(rules="table")
    plain = train()
    bpe = train(rules="table", model_type="bpe")
    name = "sentencepiece.bpe.model"
    xlm = Folder("xlm_roberta", "xlm-roberta", {name: table})
    xlm.expect()
    published = xlm.saved("xlm_roberta_published")
    published.change_json(as_later_published)
    published.expect()

    camembert = Folder("camembert", "camembert", {name: table})
    camembert.expect()
    camembert.saved("camembert_saved").expect()

    control = {"pad_id": 0, "unk_id": 1, "bos_id": -1, "eos_id": -1, "control_symbols": "[CLS],[SEP],[MASK]"}
    albert = Folder("albert", "albert", {"spiece.model": train(rules="table", **control)})
    albert.expect()
    albert.saved("albert_saved").expect()
    kept = {"tokenizer_class": "AlbertTokenizer", "keep_accents": True, "do_lower_case": False}
    Folder("albert_kept", "albert", {"spiece.model": train(vocab_size=180, **control)}, kept).expect()

    mbart = {"tokenizer_class": "MBartTokenizer", "src_lang": "en_XX", "tgt_lang": "ro_RO"}
    Folder("mbart", "mbart", {name: table}, mbart).expect(["fr_XX"], ["de_DE", "zh_CN"])
    mbart50 = {"tokenizer_class": "MBart50Tokenizer", "src_lang": None, "tgt_lang": None}
    folder = Folder("mbart50", "mbart", {name: table}, mbart50)
    folder.expect(["fr_XX", "sl_SI"], ["de_DE"])
    published = folder.saved("mbart50_published", {"src_lang": "de_DE", "tgt_lang": "fr_XX"})
    published.change_json(as_first_published)
    published.expect(["en_XX"], ["gl_ES"])

    languages = list(transformers.models.nllb.tokenization_nllb.FAIRSEQ_LANGUAGE_CODES)
    first = sentencepiece.SentencePieceProcessor(model_proto=bpe).get_piece_size() + 1
    ids = {str(first + i): {"content": language, "special": True} for i, language in enumerate(languages + ["<mask>"])}
    listed = {"tokenizer_class": "NllbTokenizer", "src_lang": "fra_Latn", "tgt_lang": "eng_Latn",
              "additional_special_tokens": languages, "added_tokens_decoder": ids}  # fmt: skip
    folder = Folder("nllb_listed", "m2m_100", {name: bpe}, listed)
    folder.expect(["deu_Latn"], ["zul_Latn"])
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
    model = train(rules="table", **(T5_IDS | {"unk_id": 2}))
    config = {"tokenizer_class": "PegasusTokenizer", "mask_token": "<mask_2>", "mask_token_sent": "<mask_1>"}
    folder = Folder("pegasus", "pegasus", {"spiece.model": model}, config)
    folder.expect()
    Folder("pegasus_bare", "pegasus", {"spiece.model": model}).expect()
    published = folder.saved("pegasus_published")
    published.change_json(as_first_published)
    published.expect()


def make_bert():
    uncased = Folder("bert_uncased", "bert", word_piece_files(True))
    uncased.expect()
    uncased.saved("distilbert_saved", {"tokenizer_class": "DistilBertTokenizer"}).expect()
    cased = {"do_lower_case": False, "clean_up_tokenization_spaces": True, "tokenizer_class": "BertTokenizer"}
    Folder("bert_cased", "bert", word_piece_files(False), cased).expect()
    Folder("electra", "electra", word_piece_files(True)).expect()
    mpnet = Folder("mpnet", "mpnet", word_piece_files(True, ("<s>", "<pad>", "</s>", "[UNK]", "<mask>")))
    mpnet.expect()
    mpnet.saved("mpnet_saved").expect()
    sentences = uncased.saved("sentence_transformers", {"strip_accents": False})
    sentences.write("modules.json", [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}])
    sentences.write("sentence_bert_config.json", {"max_seq_length": 128, "do_lower_case": False})
    sentences.expect()


def main():
    transformers.logging.set_verbosity_error()
    shutil.rmtree(ROOT, ignore_errors=True)
    ROOT.mkdir()
    (ROOT / "texts.json").write_text(json.dumps(TEXTS, indent=0) + "\n", encoding="utf-8")
    make_t5()
    make_byte_level()
    make_whisper()
    make_fairseq()
    make_pegasus()
    make_bert()
    make_deberta()


if __name__ == "__main__":
    main()
