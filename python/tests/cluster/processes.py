"""Reads information about processes from Linux's /proc."""

from __future__ import annotations

import re
from pathlib import Path


def parents() -> dict[int, int]:
    found = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = status.read_text()
        except OSError:  # it has ended
            continue
        found[int(status.parent.name)] = int(text.rpartition(")")[2].split()[1])
    return found


def descendants(process: int) -> set[int]:
    of, found, more = parents(), set[int](), {process}
    while more:
        more = {child for child, parent in of.items() if parent in more}
        found |= more
    return found


def title_of(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ").strip()
    except OSError:
        return ""


def proportional_bytes(process: int) -> dict[str, int]:
    """Returns the proportional set size of a process, and the part of it that belongs to files.

    Memory that N processes share counts as 1/N for each.
    """
    text = Path(f"/proc/{process}/smaps_rollup").read_text()
    return {name: int(size) << 10 for name, size in re.findall(r"^(\w+):\s+(\d+) kB$", text, re.MULTILINE)}
