"""Training of small tokenizers, with the same result in each run."""

import collections
import io
import tempfile

import sentencepiece
from tokenizers import decoders, normalizers
from transformers.convert_slow_tokenizer import import_protobuf


def train_sentencepiece(texts, rules="nmt_nfkc", **options):
    """Returns a sentencepiece model. `rules` is the name of a normalisation, or a table: text -> text."""
    hexes = lambda text: " ".join(f"{ord(c):X}" for c in text)
    options = {"hard_vocab_limit": False, "num_threads": 1, "minloglevel": 2} | options
    model = io.BytesIO()
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as table:
        if isinstance(rules, dict):
            table.write("".join(f"{hexes(source)}\t{hexes(target)}\n" for source, target in rules.items()))
            table.flush()
            options["normalization_rule_tsv"] = table.name
        else:
            options["normalization_rule_name"] = rules
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(texts), model_writer=model, **options)
    proto = import_protobuf().ModelProto.FromString(model.getvalue())
    proto.trainer_spec.ClearField("input")
    proto.normalizer_spec.ClearField("normalization_rule_tsv")
    return proto.SerializeToString()


def normalization_table(rules):
    """Returns the table that sentencepiece compiles from rules."""
    model = train_sentencepiece(["a b c"], rules, vocab_size=8)
    return import_protobuf().ModelProto.FromString(model).normalizer_spec.precompiled_charsmap


def learn_merges(words, count, prefix=""):
    """Returns the `count` most frequent merges of words, which are lists of symbols, or a Counter of tuples of symbols. (The
    trainers of tokenizers choose randomly among equally frequent merges.) Symbols inside a word begin with `prefix`."""
    words = words if isinstance(words, collections.Counter) else collections.Counter(map(tuple, words))
    merges = []
    while len(merges) < count:
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
                    symbols[-1] += symbol[len(prefix) :]
                else:
                    symbols.append(symbol)
            merged[tuple(symbols)] += times
        words = merged
    return merges


def merges_file(merges):
    return "#version: 0.2\n" + "".join(" ".join(merge) + "\n" for merge in merges)


def llama_parts():
    """Returns the normalizer and the decoder of Llama 2."""
    normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    return normalizer, decoders.Sequence(steps)
