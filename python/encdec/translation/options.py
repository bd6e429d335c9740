"""The names and types of options."""

from __future__ import annotations

from typing import Literal, TypedDict


class TranslateOptions(TypedDict, total=False):
    split: Literal["sentences", "lines", "never"] | None
    num_beams: int | None
    batch_size: int | None
    workers: int | None


class TextOptions(TranslateOptions, total=False):
    html: bool
    alternatives: int


class FormatOptions(TypedDict, total=False):
    format: str | None
    entries: Literal["untranslated", "fuzzy", "all"] | None
    mark_fuzzy: bool
    xliff_state: str | None
    line_width: int | None
    max_lines: int | None
    join_gap: float | None


class FileOptions(TranslateOptions, FormatOptions, total=False):
    pass


class DocumentOptions(FormatOptions, total=False):
    target_language: str | None


TEXTS = frozenset(TextOptions.__annotations__)
FILES = frozenset(FileOptions.__annotations__)
DOCUMENT = frozenset(DocumentOptions.__annotations__)
