#!/usr/bin/env python3
"""Checks the tree against ARCHITECTURE.md: python3 tests/levels.py [ROOT] [--picture | --lines | --reading]

The first table of ROOT/ARCHITECTURE.md lists folders, a level a row. A file may include or import files of its own row
and of rows above it. Files form no circles, nor do folders. A folder without a row belongs to the row of its parent.
The picture in ARCHITECTURE.md must be the one that --picture prints.

No row, and no row of the table of totals, has more lines than it allows. --lines prints the lines of each.

A list of files to read, "## NAME: at most N lines", has no more lines than N. Its table must be the one that --reading
prints, with the lines of each row, rounded up to tens. A later list goes on where an earlier one ends, so its N counts
both.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

FOLDERS = ("engine", "layers", "models", "tools", "python/src", "python/encdec", "examples")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<(encdec/[^>]+)>)', re.MULTILINE)
ROW = re.compile(r"^\| `([a-z0-9_/]+)/` \| ([a-z ]+) \| ([0-9,]*) \|", re.MULTILINE)
TOTAL = re.compile(r"^\| ([A-Za-z+ ]+) \| `([a-z/ ]+)` \| `([a-z. ]+)` \| ([0-9,]+) \|", re.MULTILINE)
READING = re.compile(r"^## (The [a-z]+): at most ([0-9,]+) lines$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
READING_ROW = re.compile(r"^\| (`.+?) \| *[0-9,]* *\|", re.MULTILINE)
WIDTH = 84


def rows_of(text: str) -> dict[str, str]:
    """Folders and their groups, in the order of the table: the lowest folder of the picture first."""
    return {folder: group for folder, group, _ in ROW.findall(text)}


def included(root: Path, file: PurePosixPath) -> Iterator[str]:
    """Paths of project files that a C++ file includes, found as compilers find them."""
    # Folders in which quoted includes are looked up: the file's own, then those that CMake gives to its target.
    folders = [str(file.parent), "tools" if file.parts[0] == "tools" else "."]
    for quoted, angled in INCLUDE.findall((root / file).read_text(encoding="utf-8")):
        path = quoted or angled
        if path.endswith(".inc"):
            continue  # made by the build
        if path.startswith("encdec/") and (root / path.removeprefix("encdec/")).is_file():
            yield path.removeprefix("encdec/")
            continue
        for folder in folders:
            if quoted and (root / folder / path).is_file():
                yield str(PurePosixPath(folder, path))
                break
        else:
            raise LookupError(f"{file} includes {path}, which is in none of {', '.join(folders)}")


def imported(root: Path, file: PurePosixPath) -> Iterator[str]:
    """Paths of modules of the same package that a Python file imports, anywhere in it."""
    for node in ast.walk(ast.parse((root / file).read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or node.level == 0:
            continue
        names = [node.module] if node.module else [alias.name for alias in node.names]
        for name in names:
            path = file.parent / f"{name}.py"
            if (root / path).is_file():
                yield str(path)


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of two nodes and more (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(stack[at:])
            del stack[at:]

    sys.setrecursionlimit(10_000)
    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def picture(rows: dict[str, str]) -> str:
    """The groups as boxes, the core at the bottom. The lowest level of a box is at the bottom or at the left."""
    groups: dict[str, list[str]] = defaultdict(list)
    for folder, group in rows.items():
        groups[group].append(folder)
    columns = [list(reversed(groups["core"])), list(reversed(groups["optional components"]))]
    height = max(map(len, columns))
    widths = [WIDTH // 2, WIDTH - WIDTH // 2 - 3]
    columns = [[""] * (height - len(column)) + column for column in columns]

    def wide(group: str) -> list[str]:
        lines = textwrap.wrap("  ".join(groups[group]), WIDTH - 4)
        return [f"+-- {group} ".ljust(WIDTH - 1, "-") + "+", *(f"| {line.ljust(WIDTH - 4)} |" for line in lines)]

    lines = [*wide("benchmarks and training"), *wide("front ends")]
    titles = [f"-- {title} ".ljust(width - 1, "-") for title, width in zip(("core", "optional components"), widths)]
    lines.append(f"+{titles[0]}+{titles[1]}-+")
    lines += [f"| {left.ljust(widths[0] - 2)}| {right.ljust(widths[1] - 1)}|" for left, right in zip(*columns)]
    return "\n".join([*lines, f"+{'-' * (widths[0] - 1)}+{'-' * widths[1]}+"])


def lines_of(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def total_lines(root: Path, folders: str, suffixes: str) -> int:
    """Lines of the files with one of the suffixes in the folders; both are separated by spaces."""
    files = (file for folder in folders.split() for file in (root / folder).rglob("*"))
    return sum(lines_of(file) for file in files if file.suffix in suffixes.split() and file.is_file())


def files_of(root: Path, names: str) -> list[Path]:
    """The files of a row: `folder/`: `a.h`, `b.*`, ..., or paths."""
    folder, files = "", []
    for name in re.findall(r"`([^`]+)`", names):
        if name.endswith("/"):
            folder = name
            continue
        found = sorted(root.glob(folder + name))
        if not found:
            raise LookupError(f"ARCHITECTURE.md has a file to read, {folder}{name}, which does not exist")
        files += found
    return files


def counted_reading(root: Path, architecture: str) -> tuple[str, list[str]]:
    """The lists of files to read with their lines, and what is wrong with them."""
    lists, faults, total = [], [], 0
    for name, limit, text in READING.findall(architecture):
        for row in READING_ROW.finditer(text):
            try:
                lines = sum(map(lines_of, files_of(root, row[1])))
            except LookupError as fault:
                faults.append(str(fault))
                continue
            total += lines
            counted = f"| {row[1]} | {-(-lines // 10) * 10:,} |"
            lists.append(counted)
            if counted not in text:
                faults.append(f"{name} has other lines than ARCHITECTURE.md says; tests/levels.py --reading: {counted}")
        lists.append(f"{name}: {total:,} lines of {limit}")
        if total > int(limit.replace(",", "")):
            faults.append(f"{name} has {total:,} lines, expected {limit} at most")
    return "\n".join(lists), faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--picture", action="store_true")
    parser.add_argument("--lines", action="store_true")
    parser.add_argument("--reading", action="store_true")
    arguments = parser.parse_args()
    root: Path = arguments.root
    architecture = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = rows_of(architecture)
    if arguments.picture:
        print(picture(rows))
        return 0
    reading, faults = counted_reading(root, architecture)
    if arguments.reading:
        print(reading)
        return 0

    limits = {folder + "/": limit for folder, _, limit in ROW.findall(architecture) if limit}
    lines = dict.fromkeys(limits, 0)
    for name, folders, suffixes, limit in TOTAL.findall(architecture):
        limits[name] = limit
        lines[name] = total_lines(root, folders, suffixes)

    faults += [f"ARCHITECTURE.md has a row for {row}/, which does not exist" for row in rows if not (root / row).is_dir()]
    if picture(rows) not in architecture:
        faults.append("the picture in ARCHITECTURE.md is not that of its table; tests/levels.py --picture prints it")
    levels = {folder: level for level, folder in enumerate(rows)}

    def row_of(file: PurePosixPath) -> str | None:
        return next((str(folder) for folder in file.parents if str(folder) in levels), None)

    def level_of(file: PurePosixPath) -> int | None:
        return levels.get(row_of(file) or "")

    files = [
        PurePosixPath(path.relative_to(root).as_posix())
        for folder in FOLDERS
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in (".h", ".cc") or (path.suffix in (".py", ".pyi") and folder == "python/encdec")
        if not path.is_relative_to(root / "examples/lessons")  # a project of its own
    ]
    file_edges: dict[str, set[str]] = defaultdict(set)
    folder_edges: dict[str, set[str]] = defaultdict(set)
    for file in files:
        own = level_of(file)
        if own is None:
            faults.append(f"{file} is in no folder of ARCHITECTURE.md's table")
            continue
        if f"{row_of(file)}/" in lines:
            lines[f"{row_of(file)}/"] += lines_of(root / file)
        try:
            targets = set(imported(root, file) if file.suffix.startswith(".py") else included(root, file)) - {str(file)}
        except LookupError as fault:
            faults.append(str(fault))
            continue
        for target in targets:
            other = level_of(PurePosixPath(target))
            if other is None or other > own:
                faults.append(f"{file} includes {target}, which is of a lower row")
            file_edges[str(file)].add(target)
            if str(file.parent) != str(PurePosixPath(target).parent):
                folder_edges[str(file.parent)].add(str(PurePosixPath(target).parent))
    faults += [f"files include each other: {', '.join(circle)}" for circle in circles(file_edges)]
    faults += [f"folders include each other: {', '.join(circle)}" for circle in circles(folder_edges)]
    if arguments.lines:
        print("\n".join(f"{count:7,}  of {limits[name]:>7}  {name}" for name, count in lines.items()))
        return 0
    faults += [
        f"{name} has {count:,} lines, expected {limits[name]} at most: remove lines, or raise the number in "
        "ARCHITECTURE.md and say why in the commit's message"
        for name, count in lines.items()
        if count > int(limits[name].replace(",", ""))
    ]
    edges = sum(map(len, file_edges.values()))
    print("\n".join(faults[:20]) or f"{edges} includes of {len(files)} files were looked at")
    return 1 if faults or not edges else 0


if __name__ == "__main__":
    sys.exit(main())
