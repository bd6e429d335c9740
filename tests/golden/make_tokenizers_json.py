#!/usr/bin/env python3
"""Makes the golden test data in tests/golden/tokenizer_json: small tokenizer.json files, and transformers' results with them.

    pip install -r requirements.txt      # sentencepiece 0.2.3, tokenizers 0.23.3, transformers 5.23.0
    python make_tokenizers_json.py

    texts.json                    the texts, shared by all cases
    CASE/tokenizer.json
    CASE/tokenizer_config.json    only in cases in which it matters
    CASE/expected.json            texts: numbers of the texts
                                  ids: the ids of each text, with special tokens
                                  decoded: the decoded ids of each text, without special tokens
                                  pieces: the pieces of some of the first texts
                                  pair_ids, pair_types: the ids of pairs of texts, and their token types
                                  offsets: for each id of each text where its part of the text begins and ends, in characters

All tokenizers are trained here on the texts themselves. The output does not depend on random numbers, dates, paths or threads.
"""

import argparse
import base64
import io
import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

TEXTS = [
    "",
    " ",
    "     ",
    "Hello, world!",
    "The quick brown fox jumps over the lazy dog. It doesn't mind; we've seen it, they'll do, I'm sure you'd agree.",
    "  two  spaces   everywhere    ",
    "\ttab\nnewline\r\nboth\x0bvertical\x0cform",
    "a\u00a0non-breaking\u202fspace\u3000ideographic\u2003em\u200bzero\ufeffmark\u2060word",
    "null\x00bell\x07delete\x7fnext\x85line\u2028separator\u2029end",
    "don't DON'T Don\u2019t do not n't 'm 's 've 're ' quoted ' .",
    "Crème brûlée, naïve façade, Ångström; cre\u0300me bru\u0302le\u0301e nai\u0308ve",
    "İstanbul ISPARTA ıi İİ",
    "Straße STRASSE ẞ ßß",
    "Ὀδυσσεύς ΣΊΣΥΦΟΣ Σ σς",
    "DZ Dz dz Lj ǅ ǈ",
    "ﬁne ﬂow oﬃce ½ ² ℃ Ⅳ ㎏ ㋿ ﷺ",
    "Ｆｕｌｌｗｉｄｔｈ ＡＢＣ　１２３ ｶﾞｷﾞ ｱ",
    "中文没有空格，但是有标点。繁體字也有！",
    "日本語のテキスト、カタカナとひらがな。が か\u3099 ゔ",
    "한국어 문장입니다. \u1112\u1161\u11ab\u1100\u116e\u11a8",
    "العربية مِنَ اليَمِينِ إلى اليسار، ١٢٣٤",
    "עִבְרִית עם ניקוד",
    "हिन्दी में पाठ क्षत्रिय ज्ञान १२३ ड\u093c",
    "ภาษาไทยไม่มีช่องว่าง ๑๒๓ น้ำ",
    "Русский текст с ёлкой и е\u0308лкой, Україна",
    "தமிழ் மொழி తెలుగు ಕನ್ನಡ മലയാളം",
    "👨‍👩‍👧‍👦 family 🇫🇷🇩🇪 flags 👍🏽👋🏿 skin ❤️ ☺ 🏳️‍🌈 1️⃣",
    "\u0301alone \u0323\u0301\u0323 \u200d\u200c \u0e31 \u3099",
    "q\u0307\u0323 q\u0323\u0307 a\u0301\u0323\u0334\u0301 \u1e69 s\u0307\u0323",
    "1 12 123 1234567890 3.14 1,000 x2y 4th ٣٤ Ⅷ ¾ 五",
    "C++ & C# != <html> {json: [1, 2]} a_b-c/d\\e|f~g`h^i@j#k$l%m*n(o)p+q=r\"s'",
    "https://example.org/a?b=c&d=%20#e user@example.com",
    "<s>special</s> tokens <mask> inside <pad> text <unk> <extra_id_0><extra_id_1> [MASK] [CLS][SEP] <|end|>",
    "   <mask>   spaces\u00a0 <mask> around<mask>",
    "wordtoken token tokens subtoken token, token_ token\u0301 (token) TOKEN Token",
    "AddedToken ADDEDTOKEN addedtoken x addedtoken",
    "naïveadded cafe\u0301added caféadded",
    "supercalifragilisticexpialidocious" * 5,
    "a" * 120 + " " + "ab" * 60,
    "é" * 70 + "中" * 30,
    "▁already ▁▁metaspace Ġbyte Ċlevel ##piece </w> @@ <0x41><0xE2>",
    "mixed中English日本123한국abc",
    "-- - — … «guillemets» „quotes“ 「括弧」 ¿qué? ¡sí! ٪ ؟ ।",
    "\U0001d400\U0001d7d9 \U00020000\U0002a6df \ue000 \U0010ffff \ufffd \ufffe",
    "the-final--countdown-- -the -- -",
    "e\u0301\u0301 \u00e9\u0301 ﬁ\u0301 \u0958 \u2126 \u212b \uac00\u11a8",
    "line one\n\nline two\n   \n  indented\r\n\r\n\ttabbed   \n",
    "ALLCAPS camelCase snake_case kebab-case Mixed123Case ÀÉÎ àéî",
    "  leading and trailing  \n",
]

FEW_TEXTS = [text for text in TEXTS if text.startswith(("Hello", "  two", "\t", "don't", "Crème", "中文", "1 12", "C++", "the-", "line"))]

GPT4_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

# A few rules of each kind in published tables: the result is shorter, longer or empty, or two characters become one.
CHARSMAP_RULES = {
    "\t": " ", "\n": " ", "\r": " ", "\u00a0": " ", "\u3000": " ", "\u200b": " ", "\ufeff": "", "\x07": "", "\x7f": "",
    "ﬁ": "fi", "ﬂ": "fl", "½": "1⁄2", "²": "2", "℃": "°C", "Ⅳ": "IV", "㎏": "kg", "Ａ": "A", "Ｆ": "F", "ｶ": "カ",
    "ｶﾞ": "ガ", "e\u0301": "é", "i\u0308": "ï", "か\u3099": "が", "…": "...", "\u2126": "Ω", "ﷺ": "صلى الله عليه وسلم",
}


@dataclass
class Case:
    tokenizer: Tokenizer
    config: dict = field(default_factory=dict)  # tokenizer_config.json
    rewrite: object = None  # a function that turns the file's JSON into an older form
    few_texts: bool = False  # use only FEW_TEXTS, which are enough for this case


def charsmap(rules=None, name="identity"):
    """Returns the normalisation table that sentencepiece compiles from rules."""
    folder = Path("/dev/shm") if Path("/dev/shm").is_dir() else Path(".")
    table = folder / f"rules-{os.getpid()}.tsv"
    options = {"normalization_rule_name": name}
    if rules:
        hexes = lambda text: " ".join(f"{ord(c):X}" for c in text)
        table.write_text("".join(f"{hexes(source)}\t{hexes(target)}\n" for source, target in rules.items()))
        options = {"normalization_rule_tsv": str(table)}
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c"]), model_writer=model, vocab_size=8, hard_vocab_limit=False, minloglevel=2, **options
    )
    table.unlink(missing_ok=True)
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model.getvalue())
    return proto.normalizer_spec.precompiled_charsmap


def precompiled(table):
    return normalizers.Precompiled(table)


def unigram(pieces, vocab_size=260, normalizer=None, pre_tokenizer=None, byte_fallback=False, texts=TEXTS):
    """Returns a trained Unigram tokenizer. Its first pieces are `pieces`, which include "<unk>"."""
    tokenizer = Tokenizer(models.Unigram())
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    trainer = trainers.UnigramTrainer(
        vocab_size=1500, special_tokens=pieces, unk_token="<unk>", show_progress=False, n_sub_iterations=1, shrinking_factor=0.6
    )
    tokenizer.train_from_iterator(texts, trainer)
    vocab = json.loads(tokenizer.to_str())["model"]["vocab"]
    vocab = [tuple(item) for item in vocab]
    # Drop rare letters, so that they are unknown. Sort by score and text: the trainer's order of equal scores varies.
    specials, learned = vocab[: len(pieces)], [(piece, round(score, 4)) for piece, score in vocab[len(pieces) :]]
    learned = sorted((p for p in learned if len(p[0]) > 1 or ord(p[0]) < 0x3000), key=lambda p: (-p[1], p[0]))[:vocab_size]
    if byte_fallback:
        learned += [(f"<0x{byte:02X}>", -20.0) for byte in range(256)]
    tokenizer.model = models.Unigram(specials + learned, unk_id=pieces.index("<unk>"), byte_fallback=byte_fallback)
    return tokenizer


def common_letters(texts, normalizer, limit):
    """Returns the most frequent letters. The trainers' own choice among equally frequent letters varies from run to run."""
    counts = {}
    for text in texts:
        for letter in normalizer.normalize_str(text) if normalizer else text:
            counts[letter] = counts.get(letter, 0) + 1
    return sorted(sorted(counts, key=lambda letter: (-counts[letter], letter))[:limit])


def bpe(pieces, vocab_size=400, normalizer=None, pre_tokenizer=None, alphabet=(), limit=1000, texts=TEXTS, **options):
    """Returns a trained BPE tokenizer. Its first pieces are `pieces`."""
    alphabet = alphabet or common_letters(texts, normalizer, limit)
    tokenizer = Tokenizer(models.BPE(**options))
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, special_tokens=pieces, initial_alphabet=list(alphabet), limit_alphabet=len(alphabet),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def count_words(tokenizer, texts):
    counts = {}
    for text in texts:
        text = tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text
        for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text):
            counts[word] = counts.get(word, 0) + 1
    return counts


def decorated_bpe(normalizer, pre_tokenizer, texts, unk_token, prefix="", suffix="", merges=200):
    """Like bpe(), for pieces with a prefix or suffix. The trainer is not used: its order of such pieces varies from run to run."""
    tokenizer = Tokenizer(models.BPE())
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    alphabet = set(common_letters(texts, normalizer, 120))
    words = {}
    for word, count in count_words(tokenizer, texts).items():
        pieces = [prefix * (i > 0) + c + suffix * (i == len(word) - 1) for i, c in enumerate(word)]
        if alphabet.issuperset(word):
            words[tuple(pieces)] = count
    vocab = {unk_token: 0}
    for piece in sorted({piece for word in words for piece in word}):
        vocab[piece] = len(vocab)
    learned = []
    for _ in range(merges):
        pairs = {}
        for word, count in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] = pairs.get(pair, 0) + count
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        whole = best[0] + best[1][len(prefix) :]
        learned.append(best)
        vocab.setdefault(whole, len(vocab))
        merged = {}
        for word, count in words.items():
            pieces = []
            for piece in word:
                if pieces and (pieces[-1], piece) == best:
                    pieces[-1] = whole
                else:
                    pieces.append(piece)
            merged[tuple(pieces)] = merged.get(tuple(pieces), 0) + count
        words = merged
    options = {"continuing_subword_prefix": prefix} if prefix else {}
    options |= {"end_of_word_suffix": suffix} if suffix else {}
    tokenizer.model = models.BPE(vocab=vocab, merges=learned, unk_token=unk_token, **options)
    return tokenizer


def word_piece(pieces, vocab_size=500, normalizer=None, pre_tokenizer=None, texts=TEXTS, **options):
    """Returns a WordPiece tokenizer of `pieces` and the most frequent parts of words."""
    tokenizer = Tokenizer(models.WordPiece())
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, pre_tokenizer
    alphabet = set(common_letters(texts, normalizer, 150))
    parts = {}
    for word, count in count_words(tokenizer, texts).items():
        for begin in range(min(len(word), 20)):
            for end in range(begin + 1, min(len(word), begin + 6) + 1):
                if alphabet.issuperset(word[begin:end]):
                    part = "##" * (begin > 0) + word[begin:end]
                    parts[part] = parts.get(part, 0) + count * (end - begin) + 1000 * (end - begin == 1)
    vocab = pieces + sorted(parts, key=lambda part: (-parts[part], part))[: vocab_size - len(pieces)]
    model = models.WordPiece(vocab={piece: i for i, piece in enumerate(vocab)}, unk_token="[UNK]", **options)
    tokenizer.model = model
    return tokenizer


def letters(pre_tokenizer, texts=TEXTS, last=0x24F):
    """Returns a tokenizer whose ids show where words begin: each letter has one piece at the beginning of a word and another
    piece inside a word."""
    found = sorted({letter for text in texts for letter in text if ord(letter) <= last})
    names = ["<unk>", "#<unk>"] + found + ["##" + letter for letter in found]
    vocab = {name: i for i, name in enumerate(names)}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[], unk_token="<unk>", continuing_subword_prefix="##"))
    tokenizer.pre_tokenizer = pre_tokenizer
    return tokenizer


def template(tokenizer, single, pair=None):
    tokens = {token for token in f"{single} {pair or ''}".replace(":1", "").split() if not token.startswith("$")}
    options = {"pair": pair} if pair else {}
    return processors.TemplateProcessing(
        single=single, special_tokens=[(token, tokenizer.token_to_id(token)) for token in sorted(tokens)], **options
    )


def t5(texts=TEXTS, table=None):
    table = table or charsmap(CHARSMAP_RULES)
    pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")]
    )
    tokenizer = unigram(["<pad>", "</s>", "<unk>"], normalizer=precompiled(table), pre_tokenizer=pre_tokenizer, texts=texts)
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.add_special_tokens(["<pad>", "</s>", "<unk>"] + [f"<extra_id_{i}>" for i in range(3)])
    tokenizer.post_processor = template(tokenizer, "$A </s>", "$A </s> $B:1 </s>:1")
    return Case(tokenizer)


def xlm_roberta(texts=TEXTS, table=None):
    table = table or charsmap(CHARSMAP_RULES)
    normalizer = normalizers.Sequence([precompiled(table), normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip()])
    tokenizer = unigram(
        ["<s>", "<pad>", "</s>", "<unk>"], normalizer=normalizer, texts=texts,
        pre_tokenizer=pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="first"),
    )
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="first")
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.post_processor = template(tokenizer, "<s> $A </s>", "<s> $A </s> </s> $B </s>")
    return Case(tokenizer)


def unigram_bytes(texts=TEXTS):
    normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer = unigram(["<unk>", "<s>", "</s>"], normalizer=normalizer, byte_fallback=True, texts=texts)
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    return Case(tokenizer)


def unigram_unsplit(texts=TEXTS):
    normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()])
    pre_tokenizer = pre_tokenizers.Metaspace(replacement="_", prepend_scheme="never", split=False)
    tokenizer = unigram(["<unk>"], normalizer=normalizer, pre_tokenizer=pre_tokenizer, texts=texts)
    tokenizer.decoder = decoders.Metaspace(replacement="_", prepend_scheme="never")
    return Case(tokenizer)


def gpt2(texts=TEXTS):
    tokenizer = bpe(
        ["<|end|>"], vocab_size=420, pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
        alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), texts=texts,
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.add_special_tokens(["<|end|>"])
    return Case(tokenizer, {"clean_up_tokenization_spaces": True})


def roberta(texts=TEXTS):
    tokenizer = bpe(
        ["<s>", "<pad>", "</s>", "<unk>"], vocab_size=420, pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True),
        alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), texts=texts,
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=True)
    return Case(tokenizer)


def llama2(texts=TEXTS):
    normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    byte_pieces = [f"<0x{byte:02X}>" for byte in range(256)]
    tokenizer = bpe(
        ["<unk>", "<s>", "</s>"] + byte_pieces, vocab_size=600, normalizer=normalizer, limit=120, texts=texts,
        pre_tokenizer=pre_tokenizers.Split("▁", "merged_with_next"), unk_token="<unk>", fuse_unk=True, byte_fallback=True,
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in ("<unk>", "<s>", "</s>")])
    tokenizer.post_processor = template(tokenizer, "<s> $A", "<s> $A <s>:1 $B:1")

    def rewrite(data):
        data["pre_tokenizer"] = None
        return data

    return Case(tokenizer, rewrite=rewrite)


def llama3(texts=TEXTS):
    split = pre_tokenizers.Split(Regex(GPT4_PATTERN), "isolated")
    pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer = bpe(
        [], vocab_size=420, pre_tokenizer=pre_tokenizer, alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), texts=texts,
        ignore_merges=True,
    )
    model = json.loads(tokenizer.to_str())["model"]
    model["vocab"]["Ġworld!"] = len(model["vocab"])  # a piece that merges cannot produce
    tokenizer.model = models.BPE(
        vocab=model["vocab"], merges=[tuple(merge) for merge in model["merges"]], ignore_merges=True
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|begin|>", "<|end|>"])
    tokenizer.post_processor = processors.Sequence(
        [processors.ByteLevel(trim_offsets=False), template(tokenizer, "<|begin|> $A", "<|begin|> $A <|begin|>:1 $B:1")]
    )
    return Case(tokenizer)


def byte_level_normalizer(texts=TEXTS):
    normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.ByteLevel()])
    tokenizer = bpe(
        ["<s>"], vocab_size=400, normalizer=normalizer, pre_tokenizer=pre_tokenizers.Split("Ġ", "merged_with_next"),
        alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), texts=texts,
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<s>"])
    tokenizer.add_tokens([AddedToken("naïveadded"), AddedToken("AddedToken", single_word=True)])
    return Case(tokenizer)


def nllb(texts=TEXTS):
    pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer = bpe(
        ["<s>", "<pad>", "</s>", "<unk>"], normalizer=precompiled(charsmap(CHARSMAP_RULES)), pre_tokenizer=pre_tokenizer,
        limit=150, texts=texts, unk_token="<unk>", fuse_unk=True,
    )
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", "eng_Latn", "fra_Latn"])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.post_processor = template(tokenizer, "eng_Latn $A </s>", "eng_Latn $A $B </s>")
    return Case(tokenizer)


def clip(texts=TEXTS):
    normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    pattern = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    pre_tokenizer = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    tokenizer = decorated_bpe(normalizer, pre_tokenizer, texts, "<unk>", suffix="</w>")
    tokenizer.decoder = decoders.BPEDecoder("</w>")
    return Case(tokenizer)


def bpe_prefix(texts=TEXTS):
    tokenizer = decorated_bpe(None, pre_tokenizers.Whitespace(), texts, "[UNK]", prefix="##")
    tokenizer.decoder = decoders.WordPiece(prefix="##", cleanup=False)
    return Case(tokenizer, {"clean_up_tokenization_spaces": True})


def bert(texts=TEXTS):
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = word_piece(
        specials, normalizer=normalizers.BertNormalizer(), pre_tokenizer=pre_tokenizers.BertPreTokenizer(), texts=texts
    )
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(specials)
    tokenizer.post_processor = template(tokenizer, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
    return Case(tokenizer, {"clean_up_tokenization_spaces": True})


def bert_cased(texts=TEXTS):
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    normalizer = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    tokenizer = word_piece(
        specials, normalizer=normalizer, pre_tokenizer=pre_tokenizers.BertPreTokenizer(), texts=texts,
        max_input_chars_per_word=20,
    )
    tokenizer.decoder = decoders.WordPiece(cleanup=False)
    tokenizer.add_special_tokens(specials)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))

    def rewrite(data):  # the form of early versions
        del data["model"]["type"]
        return data

    return Case(tokenizer, rewrite=rewrite)


def word_level(texts=TEXTS):
    normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()])
    pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Punctuation("contiguous")]
    )
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, pre_tokenizer
    trainer = trainers.WordLevelTrainer(vocab_size=250, special_tokens=["<unk>"], show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return Case(tokenizer, {"clean_up_tokenization_spaces": True})


def added_tokens(texts=TEXTS):
    tokenizer = letters(pre_tokenizers.Metaspace(replacement="_", prepend_scheme="first"), texts=texts)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Strip(left=False), normalizers.Lowercase()])
    tokenizer.add_tokens(
        [
            AddedToken("token", single_word=True, normalized=False),
            AddedToken("tokens", single_word=True, lstrip=True, normalized=False),
            AddedToken("AddedToken", normalized=True),
            AddedToken("caféadded", normalized=False),
            AddedToken("spaces", lstrip=True, rstrip=True, normalized=True),
            AddedToken("  ", rstrip=True, normalized=False),
        ]
    )
    tokenizer.add_special_tokens(
        [
            AddedToken("<mask>", lstrip=True, rstrip=True, normalized=False),
            AddedToken("<s>", normalized=True, rstrip=True),
            AddedToken("<UNK>", normalized=True),
            AddedToken("<extra_id_0>", normalized=False),
        ]
    )
    config = {
        "added_tokens_decoder": {
            str(tokenizer.token_to_id("<extra_id_0>")): {
                "content": "<extra_id_0>", "lstrip": False, "rstrip": True, "normalized": False, "single_word": False,
                "special": False,
            },
        },
        "pad_token": "<pad>", "additional_special_tokens": ["[MASK]"],
    }
    return Case(tokenizer, config)


def bos_in_config(texts=TEXTS):
    tokenizer = letters(pre_tokenizers.BertPreTokenizer(), texts=texts)
    tokenizer.add_special_tokens(["<s>", "</s>"])
    return Case(tokenizer, {"add_bos_token": True, "add_eos_token": True, "bos_token": "<s>", "eos_token": "</s>"})


def old_metaspace(texts=TEXTS):
    tokenizer = letters(pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always"), texts=texts)
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")

    def rewrite(data):
        old = {"type": "Metaspace", "replacement": "▁", "str_rep": "▁", "add_prefix_space": True}
        data["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, old]}
        data["decoder"] = old
        data["model"]["merges"] = ["h ##e", "he ##l", "▁ ##h"]
        for i, piece in enumerate(["he", "hel", "▁", "▁h"]):
            data["model"]["vocab"][piece] = 10000 + i
        return data

    return Case(tokenizer, rewrite=rewrite)


def splits(texts=TEXTS):
    """Returns a case for each way to cut words."""
    behaviors = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
    ways = {f"split_{b}": pre_tokenizers.Split(Regex(r"-|\d+"), b) for b in behaviors}
    ways |= {f"split_{b}_inverted": pre_tokenizers.Split("-", b, invert=True) for b in behaviors}
    ways |= {f"punctuation_{b}": pre_tokenizers.Punctuation(b) for b in behaviors[:4]}
    ways |= {
        "digits": pre_tokenizers.Digits(individual_digits=False),
        "char_delimiter": pre_tokenizers.CharDelimiterSplit("e"),
        "fixed_length": pre_tokenizers.FixedLength(length=3),
        "split_words": pre_tokenizers.Split(Regex(r"\b|\w{3}|[\s&]+"), "isolated"),
        "split_empty": pre_tokenizers.Split(Regex(r"a*"), "isolated"),
    }
    return {name: Case(letters(way, texts=texts, last=0x7F), few_texts=True) for name, way in ways.items()}


CASES = [
    t5, xlm_roberta, unigram_bytes, unigram_unsplit, gpt2, roberta, llama2, llama3, byte_level_normalizer, nllb, clip,
    bpe_prefix, bert, bert_cased, word_level, added_tokens, bos_in_config, old_metaspace,
]


def all_cases(**options):
    return {make.__name__: make(**options) for make in CASES} | splits(**options)


def write(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


def save(folder, case):
    """Writes the files of a case in the form in which tokenizers are published."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    data = json.loads(case.tokenizer.to_str())
    write(folder / "tokenizer.json", case.rewrite(data) if case.rewrite else data)
    if case.config:
        write(folder / "tokenizer_config.json", case.config | {"tokenizer_class": "PreTrainedTokenizerFast"})


def expected(folder, few_texts):
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    texts = FEW_TEXTS if few_texts else TEXTS
    ids = [tokenizer(text).input_ids for text in texts]
    pairs = [tokenizer(first, second, return_token_type_ids=True) for first, second in zip(TEXTS[3:9], TEXTS[10:16])]
    return {
        "texts": [TEXTS.index(text) for text in texts],
        "ids": ids,
        "decoded": [tokenizer.decode(row, skip_special_tokens=True) for row in ids],
        "pieces": [tokenizer.convert_ids_to_tokens(row) for row in ids[3:7]],
        "pair_ids": [pair.input_ids for pair in pairs],
        "pair_types": [pair.token_type_ids for pair in pairs],
        "offsets": [
            [number for begin_and_end in tokenizer(text, return_offsets_mapping=True).offset_mapping for number in begin_and_end]
            for text in texts
        ],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "tokenizer_json")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.output, ignore_errors=True)
    for name, case in all_cases().items():
        save(arguments.output / name, case)
        write(arguments.output / name / "expected.json", expected(arguments.output / name, case.few_texts))
    write(arguments.output / "texts.json", TEXTS)


if __name__ == "__main__":
    main()
