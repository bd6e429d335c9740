#!/usr/bin/env python3
"""Makes models/tokenizer/pipeline/character_tables.h: the differences between the Unicode of utf8proc and of tokenizers.

    pip install -r requirements.txt                 # tokenizers 0.23.3
    apt-get install libutf8proc2                    # 2.8.0: Unicode 15
    python make_character_tables.py HEADER   # rewrites its tables

The Rust crates of tokenizers have different versions of Unicode, 7 to 17. This asks tokenizers and utf8proc for the class of
every code point, and writes the code points with different answers to the tables.
"""

import ctypes
import sys
from pathlib import Path

from tokenizers import Regex, normalizers, pre_tokenizers

UTF8PROC = ctypes.CDLL("libutf8proc.so.2")
UTF8PROC.utf8proc_category_string.restype = ctypes.c_char_p
UTF8PROC.utf8proc_NFKD.restype = ctypes.c_char_p
CODE_POINTS = [c for c in range(1, 0x110000) if not 0xD800 <= c <= 0xDFFF]
CATEGORY = {c: UTF8PROC.utf8proc_category_string(c).decode() for c in CODE_POINTS}


def known(*categories):
    """Returns the code points with one of these categories in utf8proc. "M" stands for all categories that begin with M."""
    return {c for c in CODE_POINTS if CATEGORY[c] in categories or CATEGORY[c][0] in categories}


def removed_by(normalizer):
    return {c for c in CODE_POINTS if normalizer.normalize_str(chr(c)) == ""}


def isolated_by(pre_tokenizer):
    return {c for c in CODE_POINTS if len(pre_tokenizer.pre_tokenize_str("\x01" + chr(c) + "\x01")) == 3}


def matched_by(expression):
    return isolated_by(pre_tokenizers.Split(Regex(expression), "isolated"))


def not_decomposed():
    """Returns the code points that the older crate's NFKD does not decompose, or does not reorder among other marks."""
    nfkd = normalizers.NFKD()
    texts = ("{}", "a\u0301{}", "a{}\u0323", "a{}\u0334")
    differs = lambda text: nfkd.normalize_str(text) != UTF8PROC.utf8proc_NFKD(text.encode()).decode()
    return {c for c in CODE_POINTS if any(differs(text.format(chr(c))) for text in texts)}


def bert(**options):
    default = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**(default | options))


def tables():
    ascii_punctuation = {ord(c) for c in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"}
    punctuation = isolated_by(pre_tokenizers.Punctuation())
    marks = removed_by(normalizers.StripAccents())
    nonspacing = removed_by(bert(strip_accents=True))
    control = removed_by(bert(clean_text=True))
    letters, numbers, other_marks = (matched_by(rf"\p{{{name}}}") for name in "LNM")
    numeric = isolated_by(pre_tokenizers.Digits(True))
    all_punctuation = known("P") | ascii_punctuation
    yield "kNotPunctuation", all_punctuation - punctuation
    yield "kMorePunctuation", punctuation - all_punctuation
    yield "kNotMarks", known("M") - marks
    yield "kMoreMarks", marks - known("M")
    yield "kNotNonspacingMarks", known("Mn") - nonspacing
    yield "kMoreNonspacingMarks", nonspacing - known("Mn")
    yield "kNotControl", known("Cc", "Cf", "Co") - control - {9, 10, 13}
    yield "kNotDecomposed", not_decomposed()
    yield "kMoreLetters", letters - known("L")
    yield "kMoreNumbers", (numbers | numeric) - known("N")
    yield "kMoreWordMarks", other_marks - known("M")


def ranges(code_points):
    result = []
    for c in sorted(code_points):
        if result and result[-1][1] == c - 1:
            result[-1][1] = c
        else:
            result.append([c, c])
    return result


def main():
    path = Path(sys.argv[1])
    # Keep the text before the tables.
    lines = [path.read_text().split("inline constexpr")[0].rstrip(), ""]
    for name, code_points in tables():
        body = ", ".join(f"{{0x{first:04X}, 0x{last:04X}}}" for first, last in ranges(code_points))
        lines += [f"inline constexpr Range {name}[] = {{{body}}};", ""]
    lines.append("}  // namespace encdec::character_tables")
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
