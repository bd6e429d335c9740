#!/usr/bin/env python3
"""Makes the golden test data in tests/golden/tokenizer_json: small tokenizer.json files, and transformers' results with them.

README.md describes the files. All tokenizers are trained here on the texts themselves.
"""

import collections
import json
import os
import shutil
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import maker
import transformers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from maker.tokenizers import learn_merges, llama_parts, normalization_table
from packed import pack

ROOT = Path(__file__).parent / "tokenizer_json"
TEXTS = json.loads((ROOT / "texts.json").read_text(encoding="utf-8"))
FEW_TEXTS = [text for text in TEXTS if text.startswith(("Hello", "  two", "\t", "don't", "Crème", "中文", "1 12", "C++", "the-", "line"))]

GPT4_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

QWEN_PATTERN = GPT4_PATTERN.replace("{1,3}", "")
TEKKEN_PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

# A few rules of each kind in published tables: the result is shorter, longer or empty, or two characters become one.
CHARSMAP_RULES = {"\t": " ", "\n": " ", "\r": " ", "\u00a0": " ", "\u3000": " ", "\u200b": " ", "\ufeff": "",
                  "\x07": "", "\x7f": "", "ﬁ": "fi", "ﬂ": "fl", "½": "1⁄2", "²": "2", "℃": "°C", "Ⅳ": "IV", "㎏": "kg",
                  "Ａ": "A", "Ｆ": "F", "ｶ": "カ", "ｶﾞ": "ガ", "e\u0301": "é", "i\u0308": "ï", "か\u3099": "が", "…": "...",
                  "\u2126": "Ω", "ﷺ": "صلى الله عليه وسلم"}


@dataclass
class Case:
    tokenizer: Tokenizer
    config: dict = field(default_factory=dict)  # tokenizer_config.json
    rewrite: object = None  # a function that changes the file's JSON into an older form
    few_texts: bool = False  # use only FEW_TEXTS, which are enough for this case
    tokenizer_class: str = "PreTrainedTokenizerFast"  # this one follows tokenizer.json


def with_parts(tokenizer, **parts):
    """Sets the tokenizer's normalizer, pre_tokenizer and decoder, as far as they are given, and returns it."""
    for name, part in parts.items():
        if part is not None:
            setattr(tokenizer, name, part)
    return tokenizer


def complete(tokenizer, special, single=None, pair=None, **parts):
    """Adds special tokens, sets parts, and the template of single texts and of pairs if it is given."""
    tokenizer.add_special_tokens(special)
    if single:
        tokenizer.post_processor = template(tokenizer, single, pair)
    return with_parts(tokenizer, **parts)


def unigram(pieces, byte_fallback=False, **parts):
    """Returns a trained Unigram tokenizer. Its first pieces are `pieces`, which include "<unk>"."""
    tokenizer = with_parts(Tokenizer(models.Unigram()), **parts)
    trainer = trainers.UnigramTrainer(
        vocab_size=1500, special_tokens=pieces, unk_token="<unk>", show_progress=False, n_sub_iterations=1, shrinking_factor=0.6
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    vocab = [tuple(item) for item in json.loads(tokenizer.to_str())["model"]["vocab"]]
    # Drop rare letters, so that they are unknown. Sort by score and text: the trainer's order of equal scores varies.
    specials, learned = vocab[: len(pieces)], [(piece, round(score, 4)) for piece, score in vocab[len(pieces) :]]
    learned = sorted((p for p in learned if len(p[0]) > 1 or ord(p[0]) < 0x3000), key=lambda p: (-p[1], p[0]))[:260]
    if byte_fallback:
        learned += [(piece, -20.0) for piece in BYTES]
    tokenizer.model = models.Unigram(specials + learned, unk_id=pieces.index("<unk>"), byte_fallback=byte_fallback)
    return tokenizer


def common_letters(normalizer, limit):
    """Returns the most frequent letters. The trainers' own choice among equally frequent letters varies from run to run."""
    counts = collections.Counter()
    for text in TEXTS:
        counts.update(normalizer.normalize_str(text) if normalizer else text)
    return sorted(sorted(counts, key=lambda letter: (-counts[letter], letter))[:limit])


def bpe(pieces, vocab_size, alphabet, normalizer=None, pre_tokenizer=None, **options):
    """Returns a trained BPE tokenizer. Its first pieces are `pieces`."""
    tokenizer = with_parts(Tokenizer(models.BPE(**options)), normalizer=normalizer, pre_tokenizer=pre_tokenizer)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, special_tokens=pieces, initial_alphabet=alphabet, limit_alphabet=len(alphabet), show_progress=False
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer


def count_words(tokenizer):
    counts = collections.Counter()
    for text in TEXTS:
        text = tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text
        counts.update(word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text))
    return counts


def decorated_bpe(unk_token, prefix="", suffix="", normalizer=None, **parts):
    """Returns a BPE tokenizer of pieces with a prefix or suffix. The trainer's order of such pieces varies from run to run."""
    tokenizer = with_parts(Tokenizer(models.BPE()), normalizer=normalizer, **parts)
    alphabet, words = set(common_letters(normalizer, 120)), collections.Counter()
    for word, count in count_words(tokenizer).items():
        if alphabet.issuperset(word):
            words[tuple(prefix * (i > 0) + c + suffix * (i == len(word) - 1) for i, c in enumerate(word))] = count
    learned = learn_merges(words, 200, prefix)
    pieces = [unk_token, *sorted({piece for word in words for piece in word}), *(a + b[len(prefix) :] for a, b in learned)]
    vocab = {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}
    options = {"continuing_subword_prefix": prefix} if prefix else {"end_of_word_suffix": suffix}
    tokenizer.model = models.BPE(vocab=vocab, merges=learned, unk_token=unk_token, **options)
    return tokenizer


def word_piece(normalizer, decoder, **options):
    """Returns a WordPiece tokenizer of SPECIALS and the most frequent parts of words."""
    tokenizer = with_parts(Tokenizer(models.WordPiece()), normalizer=normalizer,
                           pre_tokenizer=pre_tokenizers.BertPreTokenizer(), decoder=decoder)
    alphabet, parts = set(common_letters(normalizer, 150)), collections.Counter()
    for word, count in count_words(tokenizer).items():
        for begin in range(min(len(word), 20)):
            for end in range(begin + 1, min(len(word), begin + 6) + 1):
                if alphabet.issuperset(word[begin:end]):
                    part = "##" * (begin > 0) + word[begin:end]
                    parts[part] += count * (end - begin) + 1000 * (end - begin == 1)
    vocab = SPECIALS + sorted(parts, key=lambda part: (-parts[part], part))[: 500 - len(SPECIALS)]
    tokenizer.model = models.WordPiece(vocab={piece: i for i, piece in enumerate(vocab)}, unk_token="[UNK]", **options)
    tokenizer.add_special_tokens(SPECIALS)
    return tokenizer


def letters(pre_tokenizer, last=0x24F):
    """Returns a tokenizer whose ids show where words begin: each letter has one piece at the beginning of a word and another
    piece inside a word."""
    found = sorted({letter for text in TEXTS for letter in text if ord(letter) <= last})
    names = ["<unk>", "#<unk>"] + found + ["##" + letter for letter in found]
    vocab = {name: i for i, name in enumerate(names)}
    model = models.BPE(vocab=vocab, merges=[], unk_token="<unk>", continuing_subword_prefix="##")
    return with_parts(Tokenizer(model), pre_tokenizer=pre_tokenizer)


def template(tokenizer, single, pair):
    tokens = {token for token in f"{single} {pair}".replace(":1", "").split() if not token.startswith("$")}
    numbered = [(token, tokenizer.token_to_id(token)) for token in sorted(tokens)]
    return processors.TemplateProcessing(single=single, pair=pair, special_tokens=numbered)


BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
FAIRSEQ = ["<s>", "<pad>", "</s>", "<unk>"]
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
MASK = AddedToken("<mask>", lstrip=True, special=True)
CLEANS_UP = {"clean_up_tokenization_spaces": True}


def byte_alphabet():
    return sorted(pre_tokenizers.ByteLevel.alphabet())


def metaspace(prepend_scheme, replacement="▁", **options):
    """Returns a pre-tokenizer and its decoder."""
    options |= {"replacement": replacement, "prepend_scheme": prepend_scheme}
    return {"pre_tokenizer": pre_tokenizers.Metaspace(**options), "decoder": decoders.Metaspace(**options)}


def precompiled():
    return normalizers.Precompiled(normalization_table(CHARSMAP_RULES))


def t5():
    parts = metaspace("always")
    parts["pre_tokenizer"] = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), parts["pre_tokenizer"]])
    special = ["<pad>", "</s>", "<unk>"]
    tokenizer = unigram(special, normalizer=precompiled(), **parts)
    special = special + [f"<extra_id_{i}>" for i in range(3)]
    return Case(complete(tokenizer, special, "$A </s>", "$A </s> $B:1 </s>:1"))


def xlm_roberta():
    normalizer = normalizers.Sequence([precompiled(), normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip()])
    tokenizer = unigram(FAIRSEQ, normalizer=normalizer, **metaspace("first"))
    return Case(complete(tokenizer, [*FAIRSEQ, MASK], "<s> $A </s>", "<s> $A </s> </s> $B </s>"))


def unigram_bytes():
    steps = [normalizers.Nmt(), normalizers.NFKC(), normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    special, (_, decoder) = ["<unk>", "<s>", "</s>"], llama_parts()
    tokenizer = unigram(special, byte_fallback=True, normalizer=normalizers.Sequence(steps), decoder=decoder)
    return Case(complete(tokenizer, special))


def unigram_unsplit():
    normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()])
    parts = metaspace("never", "_", split=False) | {"decoder": decoders.Metaspace(replacement="_", prepend_scheme="never")}
    return Case(unigram(["<unk>"], normalizer=normalizer, **parts))


def gpt2():
    tokenizer = bpe(["<|end|>"], 420, byte_alphabet(), pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False))
    post_processor = processors.ByteLevel(trim_offsets=False)
    return Case(complete(tokenizer, ["<|end|>"], decoder=decoders.ByteLevel(), post_processor=post_processor), CLEANS_UP)


def roberta():
    tokenizer = bpe(FAIRSEQ, 420, byte_alphabet(), pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True))
    post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=True)
    return Case(complete(tokenizer, [*FAIRSEQ, MASK], decoder=decoders.ByteLevel(), post_processor=post_processor))


def llama2():
    normalizer, decoder = llama_parts()
    tokenizer = bpe(["<unk>", "<s>", "</s>"] + BYTES, 600, common_letters(normalizer, 120), normalizer,
                    pre_tokenizers.Split("▁", "merged_with_next"), unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    special = [AddedToken(token, normalized=False, special=True) for token in ("<unk>", "<s>", "</s>")]
    complete(tokenizer, special, "<s> $A", "<s> $A <s>:1 $B:1", pre_tokenizer=pre_tokenizers.Sequence([]), decoder=decoder)
    return Case(tokenizer, rewrite=lambda data: data.update(pre_tokenizer=None))


def llama2_class():
    """transformers' class makes its own pipeline from the file: the second part of a text gets no "▁"."""
    case = llama2()
    case.config, case.tokenizer_class = {"add_bos_token": True, "legacy": False}, "LlamaTokenizer"
    return case


def gemma():
    """Runs of newlines and of "▁" are added tokens, which are not special. Spaces are merged to the same runs of "▁"."""
    first = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "<start_of_turn>"]
    runs = ["\n", "\n\n", "\n\n\n", "▁▁", "▁▁▁"]
    normalizer, fallback = normalizers.Replace(" ", "▁"), ["\t" if byte == "<0x09>" else byte for byte in BYTES]
    trained = bpe([*first, *runs, *fallback], 600, common_letters(normalizer, 120), normalizer,
                  pre_tokenizers.Split("▁", "merged_with_next"))
    model = json.loads(trained.to_str())["model"]
    merges = [*map(tuple, model["merges"]), ("\n", "\n"), ("▁", "▁"), ("▁▁", "▁")]
    options = {"unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True}
    tokenizer = Tokenizer(models.BPE(vocab=model["vocab"], merges=merges, **options))
    tokenizer.add_special_tokens([AddedToken(token, normalized=False) for token in first if token != "<mask>"])
    tokenizer.add_tokens([AddedToken(token, normalized=False) for token in ["<mask>", *runs]])
    decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    complete(tokenizer, [], "<bos> $A", "<bos> $A <bos>:1 $B:1", normalizer=normalizer, decoder=decoder,
             pre_tokenizer=pre_tokenizers.Split(" ", "merged_with_previous"))
    named = {"bos_token": "<bos>", "eos_token": "<eos>", "pad_token": "<pad>", "unk_token": "<unk>"}
    return Case(tokenizer, named, tokenizer_class="GemmaTokenizer")


def split_byte_level(pattern):
    """Returns the pre-tokenizer that cuts words by a pattern and writes their bytes as letters."""
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    return pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def qwen2():
    tokenizer = bpe([], 420, byte_alphabet(), normalizers.NFC(), split_byte_level(QWEN_PATTERN))
    post_processor = processors.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
    complete(tokenizer, ["<|endoftext|>"], decoder=decoders.ByteLevel(), post_processor=post_processor)
    return Case(tokenizer, few_texts=True)


def tekken():
    """The form of Mistral Nemo."""
    tokenizer = bpe(["<unk>", "<s>", "</s>"], 420, byte_alphabet(), None, split_byte_level(TEKKEN_PATTERN), ignore_merges=True)
    complete(tokenizer, ["<unk>", "<s>", "</s>"], "<s> $A", "<s> $A <s>:1 $B:1", decoder=decoders.ByteLevel())
    return Case(tokenizer, few_texts=True)


def llama3():
    pre_tokenizer = split_byte_level(GPT4_PATTERN)
    tokenizer = bpe([], 420, byte_alphabet(), pre_tokenizer=pre_tokenizer, ignore_merges=True)
    model = json.loads(tokenizer.to_str())["model"]
    model["vocab"]["Ġworld!"] = len(model["vocab"])  # a piece that merges cannot produce
    merges = [tuple(merge) for merge in model["merges"]]
    tokenizer.model = models.BPE(vocab=model["vocab"], merges=merges, ignore_merges=True)
    complete(tokenizer, ["<|begin|>", "<|end|>"], decoder=decoders.ByteLevel())
    tokens = template(tokenizer, "<|begin|> $A", "<|begin|> $A <|begin|>:1 $B:1")
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), tokens])
    return Case(tokenizer)


def byte_level_normalizer():
    normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.ByteLevel()])
    tokenizer = bpe(["<s>"], 400, byte_alphabet(), normalizer, pre_tokenizers.Split("Ġ", "merged_with_next"))
    complete(tokenizer, ["<s>"], decoder=decoders.ByteLevel())
    tokenizer.add_tokens([AddedToken("naïveadded"), AddedToken("AddedToken", single_word=True)])
    return Case(tokenizer)


def nllb():
    normalizer, parts = precompiled(), metaspace("always")
    alphabet = common_letters(normalizer, 150)
    tokenizer = bpe(FAIRSEQ, 400, alphabet, normalizer, parts["pre_tokenizer"], unk_token="<unk>", fuse_unk=True)
    special = [*FAIRSEQ, "eng_Latn", "fra_Latn", MASK]
    return Case(complete(tokenizer, special, "eng_Latn $A </s>", "eng_Latn $A $B </s>", decoder=parts["decoder"]))


def clip():
    normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    pattern = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    decoder = decoders.BPEDecoder("</w>")
    return Case(decorated_bpe("<unk>", suffix="</w>", normalizer=normalizer, pre_tokenizer=split, decoder=decoder))


def bpe_prefix():
    decoder = decoders.WordPiece(prefix="##", cleanup=False)
    return Case(decorated_bpe("[UNK]", prefix="##", pre_tokenizer=pre_tokenizers.Whitespace(), decoder=decoder), CLEANS_UP)


def bert():
    tokenizer = word_piece(normalizers.BertNormalizer(), decoders.WordPiece())
    tokenizer.post_processor = template(tokenizer, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
    return Case(tokenizer, CLEANS_UP)


def bert_cased():
    """The file has the form of early versions."""
    off = dict.fromkeys(("clean_text", "handle_chinese_chars", "strip_accents", "lowercase"), False)
    tokenizer = word_piece(normalizers.BertNormalizer(**off), decoders.WordPiece(cleanup=False), max_input_chars_per_word=20)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return Case(tokenizer, rewrite=lambda data: data["model"].pop("type"))


def word_level():
    normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()])
    steps = [pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Punctuation("contiguous")]
    tokenizer = with_parts(Tokenizer(models.WordLevel(unk_token="<unk>")), normalizer=normalizer,
                           pre_tokenizer=pre_tokenizers.Sequence(steps))
    trainer = trainers.WordLevelTrainer(vocab_size=250, special_tokens=["<unk>"], show_progress=False)
    tokenizer.train_from_iterator(TEXTS, trainer)
    return Case(tokenizer, CLEANS_UP)


def added_tokens():
    tokenizer = letters(pre_tokenizers.Metaspace(replacement="_", prepend_scheme="first"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Strip(left=False), normalizers.Lowercase()])
    raw, normalized = partial(AddedToken, normalized=False), partial(AddedToken, normalized=True)
    tokenizer.add_tokens([
        raw("token", single_word=True), raw("tokens", single_word=True, lstrip=True), normalized("AddedToken"), raw("caféadded"),
        normalized("spaces", lstrip=True, rstrip=True), raw("  ", rstrip=True),
    ])  # fmt: skip
    tokenizer.add_special_tokens([
        raw("<mask>", lstrip=True, rstrip=True), normalized("<s>", rstrip=True), normalized("<UNK>"), raw("<extra_id_0>"),
    ])  # fmt: skip
    flags = {"lstrip": False, "rstrip": True, "normalized": False, "single_word": False, "special": False}
    changed = {str(tokenizer.token_to_id("<extra_id_0>")): {"content": "<extra_id_0>"} | flags}
    return Case(tokenizer,
                {"added_tokens_decoder": changed, "pad_token": "<pad>", "additional_special_tokens": ["[MASK]"]})


def bos_in_config():
    tokenizer = complete(letters(pre_tokenizers.BertPreTokenizer()), ["<s>", "</s>"])
    return Case(tokenizer, {"add_bos_token": True, "add_eos_token": True, "bos_token": "<s>", "eos_token": "</s>"})


def old_metaspace():
    def rewrite(data):
        old = {"type": "Metaspace", "replacement": "▁", "str_rep": "▁", "add_prefix_space": True}
        data["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, old]}
        data["decoder"] = old
        data["model"]["merges"] = ["h ##e", "he ##l", "▁ ##h"]
        data["model"]["vocab"] |= {piece: 10000 + i for i, piece in enumerate(["he", "hel", "▁", "▁h"])}

    parts = metaspace("always")
    return Case(with_parts(letters(parts["pre_tokenizer"]), decoder=parts["decoder"]), rewrite=rewrite)


def splits():
    """Returns a case for each way to cut words."""
    behaviors = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
    ways = {f"split_{b}": pre_tokenizers.Split(Regex(r"-|\d+"), b) for b in behaviors}
    ways |= {f"split_{b}_inverted": pre_tokenizers.Split("-", b, invert=True) for b in behaviors}
    ways |= {f"punctuation_{b}": pre_tokenizers.Punctuation(b) for b in behaviors[:4]}
    ways |= {"digits": pre_tokenizers.Digits(individual_digits=False),
             "char_delimiter": pre_tokenizers.CharDelimiterSplit("e"),
             "fixed_length": pre_tokenizers.FixedLength(length=3),
             "split_words": pre_tokenizers.Split(Regex(r"\b|\w{3}|[\s&]+"), "isolated"),
             "split_empty": pre_tokenizers.Split(Regex(r"a*"), "isolated")}
    return {name: Case(letters(way, last=0x7F), few_texts=True) for name, way in ways.items()}


CASES = [t5, xlm_roberta, unigram_bytes, unigram_unsplit, gpt2, roberta, llama2, llama2_class, llama3, gemma, qwen2, tekken,
         byte_level_normalizer, nllb, clip, bpe_prefix, bert, bert_cased, word_level, added_tokens, bos_in_config, old_metaspace]


def write(path, value):
    maker.write_json(path, value, indent=None, ensure_ascii=False, separators=(",", ":"))


def save(folder, case):
    """Writes the files of a case in the form in which tokenizers are published."""
    folder.mkdir()
    data = json.loads(case.tokenizer.to_str())
    if case.rewrite:
        case.rewrite(data)
    write(folder / "tokenizer.json", data)
    if case.config:
        write(folder / "tokenizer_config.json", case.config | {"tokenizer_class": case.tokenizer_class})


def expected(folder, case):
    tokenizer = getattr(transformers, case.tokenizer_class).from_pretrained(folder)
    texts = FEW_TEXTS if case.few_texts else TEXTS
    ids = [tokenizer(text).input_ids for text in texts]
    pairs = [tokenizer(first, second, return_token_type_ids=True) for first, second in zip(TEXTS[3:9], TEXTS[10:16])]
    offsets = [tokenizer(text, return_offsets_mapping=True).offset_mapping for text in texts]
    return {"texts": [TEXTS.index(text) for text in texts], "ids": ids,
            "decoded": [tokenizer.decode(row, skip_special_tokens=True) for row in ids],
            "pieces": [tokenizer.convert_ids_to_tokens(row) for row in ids[3:7]],
            "pair_ids": [pair.input_ids for pair in pairs], "pair_types": [pair.token_type_ids for pair in pairs],
            "offsets": [[number for begin_and_end in row for number in begin_and_end] for row in offsets]}


def main():
    maker.prepare()
    shutil.rmtree(ROOT)
    ROOT.mkdir()
    maker.write_json(ROOT / "texts.json", TEXTS, indent=0)
    for name, case in ({make.__name__: make() for make in CASES} | splits()).items():
        save(ROOT / name, case)
        write(ROOT / name / "expected.json", expected(ROOT / name, case))
    pack(ROOT)


if __name__ == "__main__":
    main()
