#!/usr/bin/env python3
"""Checks the tree against ARCHITECTURE.md: python3 tests/levels.py [ROOT] [--picture | --lines | --reading]

The first table of ROOT/ARCHITECTURE.md lists folders, a level a row. A file may include or import files of its own row
and of rows above it. Files form no circles, nor do folders. A folder without a row belongs to the row of its parent.
Rows of the core come first, then those of hosts, then those of slices: so the core includes no host, and neither of them
includes a slice. A slice includes no other slice, tests included. Imports for type checkers alone do not count.
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

GROUPS = ("core", "hosts", "slices", "programs and training")  # in this order
FOLDERS = ("engine", "layers", "models", "tools", "python/src", "python/encdec", "examples", "tests")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<(encdec/[^>]+)>)', re.MULTILINE)
ROW = re.compile(r"^\| `([a-z0-9_/]+)/` \| ([a-z ]+) \| ([0-9,]*) \|", re.MULTILINE)
TOTAL = re.compile(r"^\| ([A-Za-z+ ]+) \| `([a-z/* ]+)` \| `([a-z. ]+)` \| ([0-9,]+) \|", re.MULTILINE)
READING = re.compile(r"^## (The [a-z]+): at most ([0-9,]+) lines$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
READING_ROW = re.compile(r"^\| (`.+?) \| *[0-9,]* *\|", re.MULTILINE)
WIDTH = 84


def rows_of(text: str) -> dict[str, str]:
    """Folders and their groups, in the order of the table: the lowest folder of the picture first."""
    return {folder: group for folder, group, _ in ROW.findall(text)}


def included(root: Path, file: PurePosixPath, absent: set[str]) -> Iterator[str]:
    """Paths of project files that a C++ file includes, found as compilers find them, but for those of absent slices."""
    # Folders in which quoted includes are looked up: the file's own, then those that CMake gives to its target.
    folders = [str(file.parent), "tools", "."]
    for quoted, angled in INCLUDE.findall((root / file).read_text(encoding="utf-8")):
        path = quoted or angled
        if path.endswith(".inc"):
            continue  # made by the build
        installed = [folder + path.removeprefix("encdec/") for folder in ("", "tools/") if path.startswith("encdec/")]
        if found := [name for name in installed if (root / name).is_file()]:
            yield found[0]
            continue
        for folder in folders:
            if quoted and (root / folder / path).is_file():
                yield str(PurePosixPath(folder, path))
                break
        else:
            if "/" in path and path.split("/")[1] in absent:
                continue
            raise LookupError(f"{file} includes {path}, which is in none of {', '.join(folders)}")


def imported(root: Path, file: PurePosixPath) -> Iterator[str]:
    """Paths of modules of the same package that a Python file imports, anywhere in it but under TYPE_CHECKING."""
    tree = ast.parse((root / file).read_text(encoding="utf-8"))
    unused = {id(each) for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
              for statement in node.body for each in ast.walk(statement)}  # fmt: skip
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node.level == 0 or id(node) in unused:
            continue
        package = file.parents[node.level - 1]
        modules = [package.joinpath(*node.module.split("."))] if node.module else []
        modules += [package.joinpath(*(node.module or "").split("."), alias.name) for alias in node.names]
        for path in modules:
            for target in (path.with_suffix(".py"), path / "__init__.py"):
                if (root / target).is_file():
                    yield str(target)


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


def slice_name(folder: str) -> str:
    """The slice of a row: speech for tools/speech/audio and python/encdec/speech."""
    return folder.removeprefix("python/").split("/")[1]


def slice_of(path: PurePosixPath, slices: set[str]) -> str | None:
    """The slice to which a file belongs; None for files of the core, of hosts and of programs."""
    found = re.match("(?:tools|python/encdec)/([a-z]+)/", str(path))
    return found[1] if found and found[1] in slices else None


def picture(rows: dict[str, str]) -> str:
    """The groups as boxes, the core at the bottom and the slices side by side. The lowest level of a box is at the left."""
    groups: dict[str, list[str]] = defaultdict(list)
    for folder, group in rows.items():
        groups[group].append(folder)

    def wide(group: str) -> list[str]:
        roots: dict[str, list[str]] = defaultdict(list)
        for folder in groups[group]:
            roots[folder.split("/")[0]].append(folder)
        wrapped = (textwrap.wrap("  ".join(folders), WIDTH - 4) for folders in roots.values())
        lines = [line for part in wrapped for line in part][::-1]
        return [f"+-- {group} ".ljust(WIDTH - 1, "-") + "+", *(f"| {line.ljust(WIDTH - 4)} |" for line in lines)]

    slices: dict[str, list[str]] = defaultdict(list)
    for folder in groups["slices"]:
        slices[slice_name(folder)].append(folder)
    width = (WIDTH - 1) // len(slices) if slices else WIDTH
    boxes = []
    for number, (name, folders) in enumerate(slices.items(), 1):
        own = width if number < len(slices) else WIDTH - 1 - width * (number - 1)
        names = [folder.removeprefix(f"tools/{name}/") for folder in reversed(folders)]
        boxes.append([f"+-- {name} ".ljust(own, "-"), *(f"| {each}".ljust(own) for each in names)])
    height = max(map(len, boxes), default=0)
    for box in boxes:
        box[1:1] = ["|".ljust(len(box[0]))] * (height - len(box))
    columns = ["".join(line) + ("+" if line[0].startswith("+") else "|") for line in zip(*boxes)]
    lines = [*wide("programs and training"), *columns, *wide("hosts"), *wide("core")]
    return "\n".join([*lines, f"+{'-' * (WIDTH - 2)}+"])


def lines_of(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def total_lines(root: Path, folders: str, suffixes: str) -> int:
    """Lines of the files with one of the suffixes in the folders, which may be patterns; both are separated by spaces.

    Tests of slices are counted only if the folders name tests.
    """
    files = {file for pattern in folders.split() for folder in root.glob(pattern) for file in folder.rglob("*")}
    counted = (file for file in files if "tests" in folders or "tests" not in file.relative_to(root).parts)
    return sum(lines_of(file) for file in counted if file.suffix in suffixes.split() and file.is_file())


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

    slices = {slice_name(folder) for folder, group in rows.items() if group == "slices"}
    for folder, group in rows.items():
        # A slice may be deleted.
        if not (root / folder).is_dir() and (group != "slices" or (root / "tools" / slice_name(folder)).is_dir()):
            faults.append(f"ARCHITECTURE.md has a row for {folder}/, which does not exist")
    if [group for group in GROUPS if group in rows.values()] != list(dict.fromkeys(rows.values())):
        faults.append(f"the rows of ARCHITECTURE.md are not in the order {', '.join(GROUPS)}")
    if picture(rows) not in architecture:
        faults.append("the picture in ARCHITECTURE.md is not that of its table; tests/levels.py --picture prints it")
    levels = {folder: level for level, folder in enumerate(rows)}

    def row_of(file: PurePosixPath) -> str | None:
        return next((str(folder) for folder in file.parents if str(folder) in levels), None)

    def group_of(file: PurePosixPath) -> str | None:
        return rows.get(row_of(file) or "")

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
    edges = 0
    for file in files:
        own, is_test = level_of(file), "tests" in file.parts
        may_use_slices = group_of(file) == GROUPS[3]
        if own is None and not is_test:
            faults.append(f"{file} is in no folder of ARCHITECTURE.md's table")
            continue
        if f"{row_of(file)}/" in lines and not is_test:
            lines[f"{row_of(file)}/"] += lines_of(root / file)
        try:
            # Programs ask whether a slice is there (#if).
            absent = {each for each in slices if not (root / "tools" / each).is_dir()} if may_use_slices else set()
            found = imported(root, file) if file.suffix.startswith(".py") else included(root, file, absent)
            targets = set(found) - {str(file)}
        except LookupError as fault:
            faults.append(str(fault))
            continue
        edges += len(targets)
        for target in targets:
            other = level_of(PurePosixPath(target))
            other_slice = slice_of(PurePosixPath(target), slices)
            if other_slice not in (None, slice_of(file, slices)) and not may_use_slices:
                faults.append(f"{file} includes {target}, which is of slice {other_slice}")
            if is_test:
                continue
            if own is None or other is None or other > own:
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
    print("\n".join(faults[:20]) or f"{edges} includes of {len(files)} files were looked at")
    return 1 if faults or not edges else 0


if __name__ == "__main__":
    sys.exit(main())
