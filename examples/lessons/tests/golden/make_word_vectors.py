#!/usr/bin/env python3
"""Makes word_vectors/: files of word vectors in the forms of gensim and of the original programs, and gensim's reading of them.

    pip install gensim==4.4.0
    python make_word_vectors.py

expected.json has the words of each file, in order, and the vectors with all digits of float32. A second run writes the same
bytes.
"""

import json
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors

FOLDER = Path(__file__).parent / "word_vectors"
WORDS = ["</s>", "the", ",", "naïve", "東京", "New_York", "0.5", "-"]


def vectors(seed, count, width):
    values = np.random.default_rng(seed).normal(0, 0.3, (count, width)).astype(np.float32)
    special = [-0.5, 1e-05, 0, -3.4e38, 1e-42, 16777217, 1 / 3]
    values.ravel()[: len(special)] = special[: values.size]
    return values


def keyed(seed, count, width):
    model = KeyedVectors(width)
    model.add_vectors(WORDS[:count], vectors(seed, count, width))
    return model


def write_original(words, values, path, binary):
    """Writes the format of word2vec's C program: a space after every text number, a newline after every entry."""
    with open(path, "wb") as file:
        file.write(b"%d %d\n" % values.shape)
        for word, row in zip(words, values):
            numbers = row.tobytes() if binary else b"".join(b"%f " % value for value in row)
            file.write(word.encode() + b" " + numbers + b"\n")


def write_glove(words, values, path):
    path.write_text("".join(f"{word} {' '.join(f'{value:.5g}' for value in row)}\n" for word, row in zip(words, values)))


def main():
    FOLDER.mkdir(exist_ok=True)
    for width in 1, 3, 7:
        keyed(width, 8, width).save_word2vec_format(FOLDER / f"gensim_{width}.txt", binary=False)
        keyed(width, 8, width).save_word2vec_format(FOLDER / f"gensim_{width}.bin", binary=True)
    small = np.clip(vectors(2, 6, 4), -9, 9)
    write_original(WORDS, small, FOLDER / "original.txt", binary=False)
    write_original(WORDS, small, FOLDER / "original.bin", binary=True)
    write_glove(WORDS[1:], vectors(3, 7, 5), FOLDER / "glove.txt")
    twice = WORDS[:3] + WORDS[1:2] + WORDS[4:]
    write_original(twice, np.clip(vectors(4, 8, 2), -9, 9), FOLDER / "twice.txt", binary=False)
    write_original(twice, np.clip(vectors(4, 8, 2), -9, 9), FOLDER / "twice.bin", binary=True)

    expected = {}
    for path in sorted(FOLDER.iterdir()):
        if path.name == "expected.json":
            continue
        model = KeyedVectors.load_word2vec_format(path, binary=path.suffix == ".bin", no_header=path.name == "glove.txt")
        # If a word occurs twice, gensim leaves an entry without a word at the end.
        words = [word for word in model.index_to_key if word is not None]
        expected[path.name] = {"words": words, "vectors": [[float(value) for value in row] for row in model.vectors[: len(words)]]}
    (FOLDER / "expected.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
