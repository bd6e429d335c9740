"""Tiny tokenizers of Marian checkpoints, and the results of transformers with them for difficult texts."""

import tempfile
from pathlib import Path

import numpy as np
import sentencepiece
from transformers import MarianTokenizer

from maker import write_json
from maker.expected import run_greedy
from maker.tokenizers import train_sentencepiece

SOURCE_TEXT = """
The cat sat on the mat. The dog sat near the door. A small bird sings in the old tree every morning.
We are going to the market to buy bread, milk and cheese. How much is the fish today?
I have seen the sea, the mountains and the river. She said that he would come back tomorrow.
Where is the train station, please? It is on the left, behind the church. Thank you very much!
Does this bus go to the city? No, you have to change at the next stop. My name is Anna; what is yours?
In 2019 there were 48 houses here, and 37 of them had a garden. The price is 15.60 per box (not 20).
"Hello world", they say, when a new program runs for the first time. It's a quick test, isn't it?
Open the window: the room is too warm. Quiet, please! The children sleep. Just give me five minutes.
The answer to the question was not in the book, so we asked the teacher. He knew more than the book.
"""

TARGET_TEXT = """
Le chat était assis sur le tapis. Le chien était près de la porte. Un petit oiseau chante dans le vieil arbre.
Nous allons au marché pour acheter du pain, du lait et du fromage. Combien coûte le poisson aujourd'hui ?
J'ai vu la mer, les montagnes et la rivière. Elle a dit qu'il reviendrait demain. Ça va très bien, merci !
Wo ist der Bahnhof, bitte? Er ist links, hinter der Kirche. Vielen Dank! Die Straße heißt Königsweg.
Fährt dieser Bus in die Stadt? Nein, Sie müssen umsteigen. Ich heiße Anna; wie heißen Sie? Schöne Grüße!
Les garçons ont reçu une boîte à la fête de Noël. « Bonjour le monde », dit-il. Où est la forêt ?
Die Kinder schlafen. Öffnen Sie das Fenster: im Zimmer ist es zu warm. Über den Fluß führt eine Brücke.
Привет, как дела? Это мой дом. Привет, это кот и дом. Там мост, а тут река. Как это?
"""

LANGUAGE_CODES = [">>fra<<", ">>deu<<"]

GENERATE_LINES = [
    "The cat sat on the mat.", "a", ">>fra<< Where is the train station, please?", "Hello world", "  two  spaces \u00e9 ",
    "A small bird sings.", "The answer was not in the book, so we asked.", "\u4f60\u597d",
]  # fmt: skip

HARD_TEXTS = [
    "The cat sat on the mat.", "", " ", "   ", "a", "Hello  world", "  leading spaces", "trailing spaces   ",
    "\ttabs\tand  spaces\t", "new\nlines\r\nhere\n", "no\u00a0break\u2003em\u3000wide spaces",
    "zero\u200bwidth\u200cnon\u200djoiner\ufeffmark", "soft\u00adhyphen", "\ufb01sh and \ufb02ag, \ufb03",
    "\uff21\uff42\uff43\uff11\uff12\uff13\uff01", "caf\u00e9 cafe\u0301 nai\u0308ve", "e\u0301\u0301\u0323 stacked",
    "\u00bd \u2460 \u2122 \u2026 \u33a2", "don't isn't \u2019quoted\u2019 \u201cdouble\u201d",
    "15.60 and 2019abc x1y2", "\u4f60\u597d\u4e16\u754c",
    "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8\u3067\u3059\u3002", "\uff76\uff9e\uff77\uff9e half width kana",
    "\u1112\u1161\u11ab\uae00 jamo", "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043a\u0430\u043a \u0434\u0435\u043b\u0430?",
    "\u043c the \u0434\u043e\u043c", "\u043c \u0436 \u043c\u043c \u043c\u0436", "\u00e9 \u00df \u00fc\u00fc \u00e7a",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 family", "\U0001f600\U0001f601 \U0001f602",
    "\U0001f1eb\U0001f1f7 flag \U0001f44d\U0001f3fd", "QZQZ @@## zzz", "\u2603\u2603\u2603", "a\u2603b\u2603\u2603c",
    "</s>", "one</s>two", "one </s> two", "</s></s>", "<pad>", "one <pad> two<pad>", "<unk>", "the <unk> cat",
    "the<unk>cat", "<unk> <unk>", "<s> begin", "</s", "<</s>>", "<pad</s>", "<mask>", ">>fra<< The cat",
    ">>fra<<The cat", ">>fra<<", ">>fra<<   ", ">>deu<< >>fra<< two codes", " >>fra<< leading space",
    ">>xyz<< unknown code", ">>any words at all<< text", ">><<empty code", ">>open code", ">> spaces << inside",
    "text >>fra<< in the middle", "</s>>>fra<< after a special token",
    "<unk> >>fra<< after a special token and a space", "\u2581the \u2581 cat", "the\u2581cat", "\u2581\u2581",
    " \u2047 ", "nul\u0000inside", "\u0001\u0002control\u007f\u0085\u009f", "\u2028line\u2029paragraph",
    "\ue000private\U000f0000 use", "\ufffd replacement \uffff", "the" * 60, "Donaudampfschifffahrtsgesellschaft" * 4,
    "x" * 300, "The cat " * 40, "THE CAT IN CAPITALS",
    "The cat sat on the mat. \u00c9t\u00e9 \u4f60 </s> >>fra<< \U0001f600  end ",
]  # fmt: skip


def train(text, vocab_size):
    lines = text.strip().splitlines() * 3
    return train_sentencepiece(lines, model_type="unigram", vocab_size=vocab_size, character_coverage=1.0)


class MarianTokenizers:
    """A source and a target sentencepiece model, and the vocabularies of their pieces.

    As in published models, ids are those of vocab.json, not those of sentencepiece. On purpose vocab.json lacks some source
    pieces, which must become <unk>. A shared vocab.json also has pieces that only the target model knows.
    """

    def __init__(self, separate):
        self.separate = separate
        self.source = train(SOURCE_TEXT, 100)
        self.target = train(TARGET_TEXT, 125)
        source_pieces, target_pieces = self.pieces(self.source), self.pieces(self.target)
        long_pieces = [piece for piece in source_pieces if len(piece) > 2]
        source_pieces = [piece for piece in source_pieces if piece not in (long_pieces[1], long_pieces[4], "?")]
        both = source_pieces + [piece for piece in target_pieces if piece not in source_pieces]
        self.shared_vocabulary = self.number(both + LANGUAGE_CODES)
        self.source_vocabulary = self.number(source_pieces + LANGUAGE_CODES)
        self.target_vocabulary = self.number(list(reversed(target_pieces)))
        assert len(self.source_vocabulary) < len(self.target_vocabulary)

    @staticmethod
    def pieces(model):
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        return [processor.id_to_piece(i) for i in range(processor.get_piece_size()) if i > 2]

    @staticmethod
    def number(pieces):
        return {piece: i for i, piece in enumerate(["</s>", "<unk>"] + pieces + ["<pad>"])}

    def sizes(self):
        """Returns the sizes of the source and the target vocabulary."""
        pair = [self.source_vocabulary, self.target_vocabulary] if self.separate else [self.shared_vocabulary] * 2
        return [len(vocabulary) for vocabulary in pair]

    def write(self, folder):
        (folder / "source.spm").write_bytes(self.source)
        (folder / "target.spm").write_bytes(self.target)
        write_json(folder / "vocab.json", self.source_vocabulary if self.separate else self.shared_vocabulary)
        if self.separate:
            write_json(folder / "target_vocab.json", self.target_vocabulary)
        MarianTokenizer(
            source_spm=str(folder / "source.spm"), target_spm=str(folder / "target.spm"), vocab=str(folder / "vocab.json"),
            target_vocab_file=str(folder / "target_vocab.json") if self.separate else None,
            source_lang="eng", target_lang="mul", separate_vocabs=self.separate,
        ).save_pretrained(folder)  # fmt: skip

    def source_rows(self):
        with tempfile.TemporaryDirectory() as folder:
            self.write(Path(folder))
            tokenizer = MarianTokenizer.from_pretrained(folder)
            return [tokenizer(line).input_ids for line in GENERATE_LINES[:4]]

    def write_expected(self, case, model, folder, path):
        tokenizer = MarianTokenizer.from_pretrained(folder)
        target_vocabulary = tokenizer.target_encoder if self.separate else tokenizer.encoder
        encode = [
            {"text": text, "ids": tokenizer(text).input_ids, "target_ids": tokenizer(text_target=text).input_ids}
            for text in HARD_TEXTS
        ]
        generate = []
        for line in GENERATE_LINES:
            greedy = run_greedy(case.family, model, tokenizer(line).input_ids)
            assert greedy.gap > 1e-3, (case.name, line)
            generate.append({"text": line, "output": tokenizer.decode(greedy.ids, skip_special_tokens=True)})
        write_json(path, {"encode": encode, "decode": decode_cases(tokenizer, target_vocabulary), "generate": generate})


def decode_cases(tokenizer, vocabulary):
    """Returns lists of ids that a decoder can produce, and some that it should not, with their decoded texts."""

    def ids(*pieces):
        return [vocabulary[piece] for piece in pieces]

    blank = "\u2581"
    word = [piece for piece in vocabulary if piece.startswith(blank) and len(piece) > 2]
    inner = [piece for piece in vocabulary if piece.isalpha()]
    last = len(vocabulary) - 1
    random = np.random.default_rng(11)
    lists = [
        [], ids("</s>"), ids(word[0], "</s>"), ids(word[0], word[1], inner[0], "."), ids(inner[0], inner[1], word[2], "</s>"),
        ids(blank), ids(blank, blank, word[0], "</s>"), ids(blank, inner[0], blank, blank, inner[1], blank, "</s>"),
        ids(word[0], blank, blank, blank), ids("<unk>"), ids(word[0], "<unk>", word[1], "</s>"),
        ids("<unk>", inner[0], "<unk>", "<unk>", inner[1]), ids(word[0], "</s>", word[1], inner[2]),
        ids(inner[0], "</s>", blank, "</s>", inner[1]), ids("<pad>", word[0], "<pad>", inner[0], "</s>", "<pad>", "<pad>"),
        ids(word[0], ".", blank, ",", blank, "."), list(range(len(vocabulary))), list(range(last, -1, -1)),
    ]  # fmt: skip
    if LANGUAGE_CODES[0] in vocabulary:
        lists += [ids(LANGUAGE_CODES[0], word[0]), ids(word[0], LANGUAGE_CODES[1], LANGUAGE_CODES[0], inner[0], "</s>")]
    lists += [random.integers(0, len(vocabulary), n).tolist() for n in (1, 2, 3, 5, 8, 13, 40)]
    return [[row, tokenizer.decode(row, skip_special_tokens=True)] for row in lists]
