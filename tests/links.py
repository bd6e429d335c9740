"""Checks the Markdown files: python3 tests/links.py [ROOT]

Links and pictures lead to files inside ROOT, and #names to headings, by GitHub's rules for their names. Each line of
code in README.zh-CN.md stands in README.md, comments aside.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

FENCE = re.compile(r"^ *(```+|~~~+).*\n((?:.*\n)*?) *\1 *$", re.MULTILINE)
LINK = re.compile(r'(?:\]\(|^ *\[[^]]+\]: +|<(?:a|img)\b[^>]*\b(?:href|src)=")<?([^\s<>)"]+)', re.MULTILINE)


def pages(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders[:] = set(folders) - {".git", ".cache", "build", "debian"}
        if {"CMakeCache.txt", "pyvenv.cfg"} & set(files):
            folders.clear()  # made by CMake or Python
        else:
            yield from (Path(folder, name) for name in files if name.endswith(".md"))


def names_of_headings(text: str) -> Iterator[str]:
    count: dict[str, int] = {}
    for heading in re.findall(r"^#{1,6} +(.*?)[ #]*$", FENCE.sub("", text), re.MULTILINE):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w -]", "", words.lower()).replace(" ", "-")
        count[name] = count.get(name, -1) + 1
        yield f"{name}-{count[name]}" if count[name] else name


def faults_of(root: Path, page: Path, text: str) -> Iterator[str]:
    for target in LINK.findall(re.sub(r"`[^`]*`", "", FENCE.sub("", text))):
        path, _, name = unquote(target).partition("#")
        file = (page.parent / path).resolve() if path else page
        if re.match("[a-z]+:", target):
            continue
        if not file.is_file() or root not in file.parents:
            yield f"{page.relative_to(root)}: there is no file {path}"
        elif name and file.suffix == ".md" and name not in names_of_headings(file.read_text(encoding="utf-8")):
            yield f"{page.relative_to(root)}: there is no heading {target}"


def code_of(text: str) -> list[str]:
    return [re.sub("(^| +)#.*", "", line) for _, code in FENCE.findall(text) for line in code.splitlines()]


root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve()
texts = {page: page.read_text(encoding="utf-8") for page in sorted(pages(root))}
faults = [fault for page, text in texts.items() for fault in faults_of(root, page, text)]
known, chinese = (code_of(texts[root / name]) for name in ("README.md", "README.zh-CN.md"))
faults += [f"README.zh-CN.md: README.md does not have: {line}" for line in chinese if line not in known]
print("\n".join(faults) or f"{len(texts)} pages were looked at")
sys.exit(bool(faults))
