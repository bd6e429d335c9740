"""Texts of files: plain text, web pages, subtitles and catalogues. Needs no model."""

from __future__ import annotations

import bisect
import itertools
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from .. import _inputs
from .._options import check_names
from . import _engine
from . import options as _options

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["read", "Document", "Segment", "Code", "Placeholder", "Cut", "Written"]


class Code(NamedTuple):
    """Markup within a text, such as ``<b>``: its position, and the index of its pair's other code."""

    position: int
    markup: str
    partner: int | None = None


class Placeholder(NamedTuple):
    """A range of a text that the translation must contain unchanged: ``%s``, ``{name}``, a URL."""

    begin: int
    end: int
    #: What the file has here, if it differs from the text.
    markup: str | None = None


class Cut(NamedTuple):
    """A subtitle boundary within a text: its position, and the fraction of the time before it, from 0 to 1."""

    position: int
    share_before: float


@dataclass(frozen=True)
class Segment:
    """A text to translate, or a translation. Positions count the characters of ``text``."""

    text: str
    codes: tuple[Code, ...] = ()
    placeholders: tuple[Placeholder, ...] = ()
    cuts: tuple[Cut, ...] = ()
    #: Where the text is in the file, such as ``"line 12"``; empty for a translation.
    where: str = ""


@dataclass(frozen=True)
class Written:
    """The content of a file with translations."""

    #: The bytes to write.
    content: bytes
    #: Segments that keep their source because the translation could not be used: index to reason.
    unused: dict[int, str]


class Document:
    """The texts of a file, from ``read``."""

    def __init__(self, core: _engine.Document) -> None:
        self._core = core
        self._segments = [_segment(parts, core.where(number)) for number, parts in enumerate(core.segments())]

    @property
    def segments(self) -> list[Segment]:
        """The texts, in file order."""
        return self._segments

    def write(self, translations: Iterable[str | Segment | None]) -> Written:
        """Returns the file with each text replaced by its translation. All other bytes stay unchanged.

        A translation is a str or a ``Segment``; None keeps the source. In a str, placeholders are searched for, and
        codes are added at the end; a ``Segment`` gives their positions. A translation without all placeholders is not
        used. Raises InputError unless there is one translation per segment.
        """
        if isinstance(translations, str):
            raise TypeError("translations: str, expected a list")
        given = list(translations)
        pairs = zip(given, self._segments + [Segment("")] * len(given))
        content, unused = self._core.write([_parts(_completed(each, source)) for each, source in pairs])
        return Written(content, dict(unused))


def read(path: str | os.PathLike[str], **options: Unpack[_options.DocumentOptions]) -> Document:
    """Returns the texts of a file. Options:

    - ``format``: ``"text"``, ``"html"``, ``"srt"``, ``"vtt"``, ``"po"`` or ``"xliff"``. Default: by the file's
      extension.
    - ``target_language``: the language of the translations, for formats that declare it.
    - ``entries``, ``mark_fuzzy``, ``xliff_state``, ``line_width``, ``max_lines``, ``join_gap``: see
      ``Translator.translate_file``.

    Raises InputError for an unknown extension, and FileError, with line and column, for a malformed file.

    >>> document = encdec.documents.read(subtitles)
    >>> [segment.text for segment in document.segments]
    ['A cat.']
    >>> document.write(["Ein Kater."]).content.splitlines()
    [b'1', b'00:00:01,000 --> 00:00:02,000', b'Ein Kater.']
    """
    check_names("read", options, _options.DOCUMENT)
    return Document(_engine.Document.read(os.fsencode(_inputs.as_path(path)), options))


def _segment(parts: _engine.Parts, where: str) -> Segment:
    text, codes, placeholders, cuts = parts
    before = _bytes_before(text)

    def position(byte: int) -> int:
        return bisect.bisect_left(before, byte)

    return Segment(
        text,
        tuple(Code(position(begin), markup, partner) for begin, markup, partner in codes),
        tuple(Placeholder(position(begin), position(end), markup) for begin, end, markup in placeholders),
        tuple(Cut(position(begin), share) for begin, share in cuts),
        where,
    )


def _bytes_before(text: str) -> Sequence[int]:
    """Returns the byte offset of each character, and the total number of bytes."""
    if text.isascii():
        return range(len(text) + 1)
    return list(itertools.accumulate((len(each.encode()) for each in text), initial=0))


def _parts(segment: Segment) -> _engine.Parts:
    before = _bytes_before(segment.text)

    def byte(position: int) -> int:
        return before[max(0, min(position, len(segment.text)))]

    return (
        segment.text,
        [(byte(each.position), each.markup, each.partner) for each in segment.codes],
        [(byte(each.begin), byte(each.end), each.markup) for each in segment.placeholders],
        [(byte(each.position), each.share_before) for each in segment.cuts],
    )


def _completed(translation: str | Segment | None, source: Segment) -> Segment:
    """Returns the translation as a segment. In a str, finds the placeholders of the source."""
    if translation is None or isinstance(translation, Segment):
        return translation or Segment("")
    if not isinstance(translation, str):
        raise TypeError(f"translations: {type(translation).__name__}, expected str, Segment or None")
    found: list[Placeholder] = []
    is_taken = bytearray(len(translation))
    last: dict[str, int] = {}  # where the last search for a placeholder ended
    for begin, end, markup in source.placeholders:
        kept = source.text[begin:end]
        position = last.get(kept, -1)
        while (position := translation.find(kept, position + 1)) >= 0 and 1 in is_taken[position : position + len(kept)]:
            pass
        last[kept] = position if position >= 0 else len(translation)
        if position >= 0:
            is_taken[position : position + len(kept)] = b"\1" * len(kept)
            found.append(Placeholder(position, position + len(kept), markup))
    return Segment(translation, placeholders=tuple(sorted(found)))
