#!/usr/bin/env python3
"""Scores pronunciations against a word list: phoneme and word error rates.

The word list has a line `word TAB phonemes` for each pronunciation. The lines of a word follow one another. The hypotheses file has a
line of phonemes for each distinct word, in the order of the list. An empty line is an empty pronunciation.

Stress digits are ignored: AH0 and AH1 are both AH. If a word has several pronunciations, the closest one counts.
  phoneme error rate := sum of edit distances / sum of lengths of the closest pronunciations
  word error rate    := words whose distance is not 0 / all words

  models/pretrained/english-pronunciation/training/score_pronunciation.py hypotheses.txt models/pretrained/english-pronunciation/test_words.tsv
"""

import argparse
import sys


def read_word_list(path):
    """Returns {word: [pronunciation, ...]} in file order."""
    words = {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            fields = line.rstrip("\n").split("\t")
            if len(fields) != 2:
                raise ValueError(f"{path}:{number}: {len(fields)} tab-separated fields, must be 2")
            words.setdefault(fields[0], []).append(fields[1])
    return words


def without_stress(pronunciation):
    return [phoneme.rstrip("012") for phoneme in pronunciation.split()]


def edit_distance(a, b):
    """Returns the minimum number of insertions, deletions and substitutions that turn sequence a into b."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def error_rates(hypotheses, references):
    """Returns (phoneme error rate, word error rate) for one hypothesis per word and a list of pronunciations per word."""
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} hypotheses for {len(references)} words")
    errors = phonemes = wrong_words = 0
    for hypothesis, pronunciations in zip(hypotheses, references):
        guess = without_stress(hypothesis)
        # The longest of equally close pronunciations counts, so that the order of the list does not matter.
        distance, length = min((edit_distance(guess, p), -len(p)) for p in map(without_stress, pronunciations))
        errors += distance
        phonemes -= length
        wrong_words += distance != 0
    return errors / phonemes, wrong_words / len(hypotheses)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hypotheses", help="file with a line of phonemes for each distinct word; -: standard input")
    parser.add_argument("word_list", help="test_words.tsv")
    options = parser.parse_args()

    words = read_word_list(options.word_list)
    if options.hypotheses == "-":
        hypotheses = sys.stdin.read().splitlines()
    else:
        with open(options.hypotheses, encoding="utf-8") as lines:
            hypotheses = lines.read().splitlines()
    try:
        phoneme_error_rate, word_error_rate = error_rates(hypotheses, list(words.values()))
    except ValueError as error:
        sys.exit(f"score_pronunciation: {error}")
    print(f"words               {len(words)}")
    print(f"phoneme error rate  {100 * phoneme_error_rate:.2f} %")
    print(f"word error rate     {100 * word_error_rate:.2f} %")


if __name__ == "__main__":
    main()
