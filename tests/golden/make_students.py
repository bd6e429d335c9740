#!/usr/bin/env python3
"""Makes students of Firefox Translations, and what they compute: students/CASE/{model/, expected.safetensors}.

A student has a Transformer encoder and a decoder of simple recurrent units (Kim et al. 2019), in Marian's binary file. No program of
the field reads one in Python with all its numbers, so the reference is NumPy in double precision, written from marian-dev's
src/models/transformer.h, src/rnn/cells.h, src/data/shortlist.cpp and src/common/binary.cpp.

random            weights at random in float32, two layers on either side, norm last
planted           int8 weights, a vocabulary for both sides, a lexical shortlist; translates each word to its partner and back
two_vocabularies  int8 weights at random, a vocabulary for each side

The planted student works like this. Some dimensions carry nothing but positions, and the cross-attention of each place of the target
finds the same place of the source. The attention's output is the embedding of the token there with its dimensions swapped in pairs,
and the embedding of the token's partner is just that.
"""

import io
import math
import shutil
import struct
from pathlib import Path

import numpy as np
import sentencepiece
from safetensors.numpy import save

from maker.marian_options import marian_options

HERE = Path(__file__).parent / "students"
SYMBOLS = ["__source__", "__target__", "__done__"]
FLOAT32, INT8, INTGEMM8 = 0x404, 0x101, 0x4101
EOS, MAX_NEW_TOKENS = 0, 256
OPTIONS = {"dec-cell": "ssru", "input-types": "\n  []", "transformer-decoder-autoreg": "rnn", "transformer-ffn-activation": "relu",
           "version": "v1.9.56"}  # fmt: skip


class Student:
    def __init__(self, name, seed, dim, heads, hidden, layers, quantized, separate=False, planted=False, pieces=96):
        self.name, self.dim, self.heads, self.hidden, self.layers = name, dim, heads, hidden, layers
        self.quantized, self.planted = quantized, planted
        self.random = np.random.default_rng(seed)
        self.model = HERE / name / "model"
        shutil.rmtree(self.model.parent, ignore_errors=True)
        self.model.mkdir(parents=True)
        self.words = [self.word("abcdefghijklm") for _ in range(60)], [self.word("nopqrstuvwxyzäöü") for _ in range(60)]
        texts = [[self.sentence(words) for _ in range(600)] for words in self.words]
        if separate:
            self.source, self.target = self.train("srcvocab", texts[0], pieces), self.train("trgvocab", texts[1], pieces)
        else:
            self.source = self.target = self.train("vocab", texts[0] + texts[1], pieces)
        self.vocabulary = self.source.get_piece_size()
        self.sides = ("encoder_Wemb", "decoder_Wemb") if separate else ("Wemb", "Wemb")
        self.weights = {}
        self.allowed = None
        self.make_weights()

    def word(self, letters):
        return "".join(self.random.choice(list(letters), self.random.integers(2, 6)))

    def sentence(self, words):
        chosen = self.random.choice(words, self.random.integers(2, 9))
        return " ".join(chosen) + (" " + str(self.random.integers(0, 100)) if self.random.random() < 0.3 else "") + "."

    def train(self, name, texts, pieces):
        content = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts), model_writer=content, vocab_size=pieces, bos_id=-1, eos_id=EOS, unk_id=1,
            num_threads=1, user_defined_symbols=SYMBOLS, split_digits=True, normalization_rule_name="identity", minloglevel=2)
        (self.model / f"{name}.enxx.spm").write_bytes(content.getvalue())
        return sentencepiece.SentencePieceProcessor(model_proto=content.getvalue())

    def matrix(self, name, rows, columns, scale=1.0):
        self.weights[name] = self.random.normal(0, 0 if self.planted else scale / math.sqrt(rows), (rows, columns))

    def vector(self, name, size, mean=0.0):
        self.weights[name] = mean + self.random.normal(0, 0 if self.planted else 0.1, (1, size))

    def norm(self, name):
        self.vector(f"{name}_ln_scale", self.dim, 1.0)
        self.vector(f"{name}_ln_bias", self.dim)

    def attention(self, name, scale=1.5):
        for letter in "qkvo":
            self.matrix(f"{name}_W{letter}", self.dim, self.dim, scale)
            self.vector(f"{name}_b{letter}", self.dim)
        self.norm(f"{name}_Wo")

    def feed_forward(self, name):
        for number, shape in ("1", (self.dim, self.hidden)), ("2", (self.hidden, self.dim)):
            self.matrix(f"{name}_W{number}", *shape)
            self.vector(f"{name}_b{number}", shape[1])
        self.norm(f"{name}_ffn")

    def make_weights(self):
        for name in sorted(set(self.sides)):
            self.weights[name] = self.random.normal(0, 1 / math.sqrt(self.dim), (self.vocabulary, self.dim))
        for i in range(1, self.layers[0] + 1):
            self.attention(f"encoder_l{i}_self")
            self.feed_forward(f"encoder_l{i}_ffn")
        for i in range(1, self.layers[1] + 1):
            self.matrix(f"decoder_l{i}_rnn_W", self.dim, self.dim, 1.5)
            self.matrix(f"decoder_l{i}_rnn_Wf", self.dim, self.dim)
            self.vector(f"decoder_l{i}_rnn_bf", self.dim)
            self.norm(f"decoder_l{i}_rnn_ffn")
            self.attention(f"decoder_l{i}_context", 3.0)
            self.feed_forward(f"decoder_l{i}_ffn")
        self.vector("decoder_ff_logit_out_b", self.vocabulary)
        if self.planted:
            self.plant()
        else:  # else tied embeddings would repeat the last token
            self.weights[f"decoder_l{self.layers[1]}_ffn_ffn_ln_scale"] *= self.random.choice([-1, 1], (1, self.dim))
        self.stored = {}
        for name, value in self.weights.items():
            if not self.quantized or len(value) == 1:
                self.weights[name] = value.astype(np.float32).astype(np.float64)
                continue
            multiplier = np.float32(127 / max(np.abs(value).max(), 1e-3))
            integers = np.clip(np.rint(value * np.float64(multiplier)), -127, 127).astype(np.int8)
            self.stored[name] = integers, multiplier
            self.weights[name] = integers / np.float64(multiplier)

    def plant(self):
        half, width = self.dim // 2, self.dim // self.heads
        waves = np.unique(np.rint(np.linspace(0, math.log(0.05) / math.log(1e-4) * (half - 1), width // 2)).astype(int))
        place, still = np.concatenate([waves, waves + half]), half - 1  # `still` carries nothing: what norms subtract shows there
        token = np.array([i for i in range(self.dim) if i not in {still, *place}])
        token = token[: len(token) // 2 * 2]
        swapped = np.arange(self.dim)
        swapped[token[::2]], swapped[token[1::2]] = token[1::2], token[::2]
        self.partner = self.partners()
        embedding = np.zeros((self.vocabulary, self.dim))
        embedding[:, token] = self.random.normal(0, 1, (self.vocabulary, len(token)))
        embedding[:, token] -= embedding[:, token].mean(1, keepdims=True)
        for i, other in enumerate(self.partner):
            if other == i:
                embedding[i] += embedding[i, swapped]
            elif other > i:
                embedding[other] = embedding[i, swapped]
        self.weights["Wemb"] = embedding * 4 / np.linalg.norm(embedding, axis=1, keepdims=True)
        name = f"decoder_l{self.layers[1]}_context"
        for letter in "qk":
            for head in range(self.heads):
                columns = head * width + np.arange(len(place))
                weight = 32 * np.sqrt(1e-4 ** (np.tile(waves, 2) / (half - 1)))
                self.weights[f"{name}_W{letter}"][place, columns] = weight
                self.weights[f"{name}_W{letter}"][still, columns] = -weight
        self.weights[f"{name}_Wv"][token, token] = 1
        self.weights[f"{name}_Wo"][token, swapped[token]] = 8

    def partners(self):
        """Words' beginnings have partners among beginnings, other letters among letters; everything else stays."""
        partner = np.arange(self.vocabulary)
        for begins in True, False:
            pieces = [self.source.id_to_piece(i) for i in range(self.vocabulary)]
            some = [i for i, piece in enumerate(pieces)
                    if i > 1 and piece not in SYMBOLS and piece.strip("▁").isalpha() and piece.startswith("▁") == begins]
            some = self.random.permutation(some)
            for a, b in zip(some[::2], some[1::2]):
                partner[a], partner[b] = b, a
        return partner

    def write(self):
        items = {}
        for name, value in self.weights.items():
            if name in self.stored:
                integers, multiplier = self.stored[name]
                rows = integers if "Wemb" in name else integers.T
                items[name] = INTGEMM8, value.shape, np.ascontiguousarray(rows).tobytes() + struct.pack("<f", multiplier)
                items[f"{name}_QuantMultA"] = FLOAT32, (1, 1), struct.pack("<f", 40.0)
            else:
                items[name] = FLOAT32, value.shape, np.ascontiguousarray(value, np.float32).tobytes()
        vocabularies, tied = (self.vocabulary, self.vocabulary), self.sides[0] == self.sides[1]
        options = marian_options(self.layers, self.dim, self.hidden, self.heads, vocabularies, tied, OPTIONS)
        items = [(name, *items[name]) for name in sorted(items)] + [("special:model.yml", INT8, (len(options),), options)]
        padded = lambda data: data + bytes(-len(data) % 256)
        blob = struct.pack("<QQ", 1, len(items))
        for name, kind, shape, data in items:
            blob += struct.pack("<4Q", len(name) + 1, kind, len(shape), len(padded(data)))
        blob += b"".join(name.encode() + b"\0" for name, *_ in items)
        blob += b"".join(struct.pack(f"<{len(shape)}i", *shape) for _, _, shape, _ in items)
        gap = 256 - (len(blob) + 8) % 256
        blob += struct.pack("<Q", gap) + bytes(gap) + b"".join(padded(data) for *_, data in items)
        kind = "intgemm.alphas" if self.quantized else "float32"
        (self.model / f"model.enxx.{kind}.bin").write_bytes(blob)
        if self.planted:
            self.write_shortlist()

    def write_shortlist(self):
        first, best = 8, 6
        lists = [sorted({int(self.partner[i]), *map(int, self.random.integers(0, self.vocabulary, best - 1))})
                 for i in range(self.vocabulary)]
        offsets = np.concatenate([[0], np.cumsum([len(some) for some in lists])]).astype("<u8")
        body = struct.pack("<4Q", first, best, len(offsets), int(offsets[-1])) + offsets.tobytes()
        body += np.concatenate(lists).astype("<u4").tobytes()
        checksum = 0
        for word, in struct.iter_unpack("<Q", body[: len(body) // 8 * 8]):
            checksum ^= (word + 0x9E3779B9 + (checksum << 6) + (checksum >> 2)) & (2**64 - 1)
            checksum &= 2**64 - 1
        (self.model / "lex.50.50.enxx.s2t.bin").write_bytes(struct.pack("<QQ", 0xF11A48D5013417F5, checksum) + body)

        def allowed(source):
            tokens = set(range(first)).union(source, *(lists[i] for i in source))
            rest = iter(i for i in range(first, self.vocabulary) if i not in tokens)
            while len(tokens) % 8:
                tokens.add(next(rest))
            return sorted(tokens)

        self.allowed = allowed

    def linear(self, x, name, letter):
        return x @ self.weights[f"{name}_W{letter}"] + self.weights.get(f"{name}_b{letter}", 0)

    def normed(self, x, name):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-6)
        return scaled * self.weights[f"{name}_ln_scale"] + self.weights[f"{name}_ln_bias"]

    def embedded(self, ids, table):
        """The start of a target, which is no token, is a zero vector."""
        half = self.dim // 2
        angles = np.arange(len(ids))[:, None] * np.exp(np.arange(half) * (-math.log(10000) / (half - 1)))
        rows = np.array([np.zeros(self.dim) if i == self.vocabulary else self.weights[table][i] for i in ids])
        return rows * math.sqrt(self.dim) + np.concatenate([np.sin(angles), np.cos(angles)], 1)

    def attend(self, name, x, memory):
        split = lambda y: y.reshape(len(y), self.heads, -1).transpose(1, 0, 2)
        q, k, v = (split(self.linear(y, name, c)) for y, c in ((x, "q"), (memory, "k"), (memory, "v")))
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(self.dim // self.heads)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        return self.linear((weights @ v).transpose(1, 0, 2).reshape(len(x), -1), name, "o"), weights

    def add_norm(self, nodes, node, x, y, name):
        nodes[node], nodes[f"{node}_norm"] = y, self.normed(x + y, name)
        return nodes[f"{node}_norm"]

    def add_feed_forward(self, nodes, node, x, name):
        y = self.linear(np.maximum(self.linear(x, f"{name}_ffn", "1"), 0), f"{name}_ffn", "2")
        return self.add_norm(nodes, f"{node}.feed_forward", x, y, f"{name}_ffn_ffn")

    def encode(self, ids, nodes):
        x = self.embedded(ids, self.sides[0])
        for i in range(1, self.layers[0] + 1):
            node, name = f"encoder.{i - 1}", f"encoder_l{i}"
            attended = self.attend(f"{name}_self", x, x)[0]
            x = self.add_norm(nodes, f"{node}.self_attention", x, attended, f"{name}_self_Wo")
            x = self.add_feed_forward(nodes, node, x, name)
        return x

    def decode(self, ids, memory, nodes):
        """Returns the logits after each token, and the weights of head 0 of the last cross-attention: the alignment."""
        x = self.embedded(ids, self.sides[1])
        for i in range(1, self.layers[1] + 1):
            node, name = f"decoder.{i - 1}", f"decoder_l{i}"
            candidate, gate = self.linear(x, f"{name}_rnn", ""), 1 / (1 + np.exp(-self.linear(x, f"{name}_rnn", "f")))
            state, y = np.zeros(self.dim), np.zeros_like(x)
            for t in range(len(x)):
                state = gate[t] * state + (1 - gate[t]) * candidate[t]
                y[t] = np.maximum(state, 0)
            x = self.add_norm(nodes, f"{node}.recurrent_unit", x, y, f"{name}_rnn_ffn")
            attended, weights = self.attend(f"{name}_context", x, memory)
            x = self.add_norm(nodes, f"{node}.cross_attention", x, attended, f"{name}_context_Wo")
            x = self.add_feed_forward(nodes, node, x, name)
        return x @ self.weights[self.sides[1]].T + self.weights["decoder_ff_logit_out_b"], weights[0]

    def greedy(self, source):
        memory, ids, score = self.encode(source, {}), [], 0.0
        while len(ids) < min(2 * len(source) + 4, MAX_NEW_TOKENS) and ids[-1:] != [EOS]:
            logits = self.decode([self.vocabulary, *ids], memory, {})[0][-1]
            if self.allowed:
                masked = np.full_like(logits, -np.inf)
                masked[self.allowed(source)] = logits[self.allowed(source)]
                logits = masked
            ids.append(int(logits.argmax()))
            score += logits.max() - np.log(np.exp(logits - logits.max()).sum()) - logits.max()
        return ids, score

    def expect(self):
        texts = [self.sentence(self.words[0]) for _ in range(6)] + ["ä", "m 10"]
        sources = [self.source.encode(text) + [EOS] for text in texts]
        greedy = [self.greedy(source) for source in sources]
        targets = [[self.vocabulary, *ids[: length]] for (ids, _), length in zip(greedy, (6, 2, 9, 1, 12, 3, 0, 5))]
        nodes, hidden, logits, alignments = {}, [], [], []
        for source, target in zip(sources, targets):
            outputs = {}
            memory = self.encode(source, outputs)
            last, alignment = self.decode(target, memory, outputs)
            hidden.append(memory), logits.append(last), alignments.append(alignment)
            for name, value in outputs.items():
                nodes.setdefault(name, []).append(value)
        (self.model.parent / "texts.txt").write_text(
            "".join(f"{text}\t{self.target.decode([i for i in ids if i > 1])}\n" for text, (ids, _) in zip(texts, greedy)))
        ids = lambda rows: padded_rows([np.array(row, np.int32) for row in rows], -1)
        tensors = {"source_ids": ids(sources), "target_ids": ids(targets), "greedy_ids": ids([row for row, _ in greedy]),
                   "greedy_scores": np.array([score for _, score in greedy], np.float32),
                   "encoder_last_hidden_state": padded_rows(hidden, 0), "logits": padded_rows(logits, 0),
                   "alignment": np.concatenate([weights.ravel() for weights in alignments]).astype(np.float32)}
        for name, values in nodes.items():
            if any(np.any(value) for value in values):
                tensors[f"nodes/{name}"] = np.concatenate(values).astype(np.float32)
        (self.model.parent / "expected.safetensors").write_bytes(save(tensors))
        print(f"{self.name}: {self.vocabulary} pieces, lengths {[len(row) for row, _ in greedy]},",
              f"{len({i for row, _ in greedy for i in row})} different, first {texts[0]!r} ->",
              repr(self.target.decode([i for i in greedy[0][0] if i > 1])))


def padded_rows(rows, value):
    """Puts arrays of different lengths into one."""
    result = np.full((len(rows), max(map(len, rows)), *rows[0].shape[1:]), value, np.int32 if rows[0].dtype == np.int32 else np.float32)
    for i, row in enumerate(rows):
        result[i, : len(row)] = row
    return result


if __name__ == "__main__":
    for student in (
        Student("random", 5, dim=16, heads=4, hidden=24, layers=(2, 2), quantized=False),
        Student("planted", 2, dim=64, heads=4, hidden=16, layers=(1, 1), quantized=True, planted=True, pieces=160),
        Student("two_vocabularies", 9, dim=16, heads=2, hidden=32, layers=(1, 2), quantized=True, separate=True, pieces=80),
    ):
        student.write()
        student.expect()
