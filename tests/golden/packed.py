"""Packs folders of many small files, and unpacks them for tests. README.md describes a packed folder."""

from __future__ import annotations

import atexit
import functools
import os
import re
import shutil
import tempfile
from pathlib import Path

SAVED_BYTES = 2_000  # what sharing a file must save


def pack(folders: Path) -> None:
    """Packs each folder below `folders` that has an expected.json."""
    cases = {path.parent: files_in(path.parent) for path in sorted(folders.rglob("expected.json"))}
    names: dict[bytes, list[str]] = {}
    for case, files in cases.items():
        for path in files:
            names.setdefault(path.read_bytes(), []).append(f"{case.name}.{path.name}")
    shared = {}
    for content, users in names.items():
        if len(content) * (len(users) - 1) > SAVED_BYTES:
            shared[content] = written(folders / "shared" / users[0], content)
    for case, files in cases.items():
        copies, texts = "", ""
        for path in files:
            content, name = path.read_bytes(), path.relative_to(case)
            if content in shared:
                copies += f"{name} < {os.path.relpath(shared[content], case.parent)}\n"
            elif (text := as_lines(content)) is not None:
                texts += f"-- {name} --\n{text}"
            else:
                continue
            path.unlink()
        written(case.with_name(case.name + ".txtar"), (copies + texts).encode())
        for folder, _, _ in os.walk(case, topdown=False):
            if not os.listdir(folder):
                os.rmdir(folder)


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def as_lines(content: bytes) -> str | None:
    """Returns the text with a newline at the end, or None if a packed folder cannot hold it."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    if "\0" in text or re.search("^-- ", text, re.M):
        return None
    return text if text.endswith("\n") else text + "\n"


@functools.cache
def unpacked(packed: Path) -> Path:
    """Returns the files of the packed folder PACKED.txtar as a folder, which the end of the program removes."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if packed.is_dir():
        shutil.copytree(packed, folder, dirs_exist_ok=True)
    text = packed.with_name(packed.name + ".txtar").read_bytes().decode()
    copies, *texts = re.split("^-- (.*) --\n", text, flags=re.M)
    for name, content in zip(texts[::2], texts[1::2], strict=True):
        written(folder / name, content.encode())
    for line in copies.splitlines():
        name, source = line.split(" < ")
        written(folder / name, (packed.parent / source).read_bytes())
    return folder


def written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
