#!/usr/bin/env python3
"""Scores transcriptions: word error rate.

References and hypotheses are text files with a line for each clip, in the same order. An empty line is an empty transcription.
Letter case is ignored, and so is punctuation except apostrophes. Word error rate := sum of edit distances / reference words.

  models/pretrained/english-numbers/training/score_speech.py hypotheses.txt build/speech/test/clean.txt
"""

import argparse
import re
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "english-pronunciation" / "training"))
from score_pronunciation import edit_distance


def words_of(text):
    return re.sub(r"[^\w\s']", " ", text.lower()).split()


def error_rate(hypotheses, references):
    """Returns (word error rate, share of clips with at least one error)."""
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} hypotheses for {len(references)} references")
    distances = [edit_distance(words_of(h), words_of(r)) for h, r in zip(hypotheses, references)]
    return sum(distances) / sum(len(words_of(r)) for r in references), sum(d > 0 for d in distances) / len(distances)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hypotheses", help="file with a line for each clip; -: standard input")
    parser.add_argument("references", help="file with a line for each clip")
    options = parser.parse_args()

    with open(options.references, encoding="utf-8") as lines:
        references = lines.read().splitlines()
    if options.hypotheses == "-":
        hypotheses = sys.stdin.read().splitlines()
    else:
        with open(options.hypotheses, encoding="utf-8") as lines:
            hypotheses = lines.read().splitlines()
    try:
        word_error_rate, wrong = error_rate(hypotheses, references)
    except ValueError as error:
        sys.exit(f"score_speech: {error}")
    print(f"clips             {len(references)}")
    print(f"word error rate   {100 * word_error_rate:.2f} %")
    print(f"clips with errors {100 * wrong:.2f} %")


if __name__ == "__main__":
    main()
