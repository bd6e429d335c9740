"""Transcripts and alignments: plain values, which can be compared, printed and pickled."""

from __future__ import annotations

import dataclasses
import math
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from .._errors import ConfigError
from .._options import check_names
from . import _engine
from . import options as _options

if TYPE_CHECKING:
    from typing_extensions import Unpack

TranscriptFormat = Literal["txt", "vtt", "srt", "tsv", "json", "lrc"]
AlignmentFormat = Literal["json", "srt", "vtt", "tsv", "textgrid"]


@dataclass(frozen=True)
class TranscriptWord:
    """A word of a segment."""

    #: The word, with the space before it and its punctuation.
    word: str
    #: Start and end, in seconds from the start of the recording.
    start: float
    end: float
    #: The mean probability of the word's tokens.
    probability: float


@dataclass(frozen=True)
class TranscriptSegment:
    """A part of a recording and its text. The names and values are openai-whisper's.

    A segment belongs to a window: up to 30 seconds of the recording, which are decoded together.
    """

    #: Number of the segment, from 0.
    id: int
    #: Start of the window, in frames of 10 ms.
    seek: int
    #: Start and end, in seconds from the start of the recording.
    start: float
    end: float
    #: The decoded text, with a space before it.
    text: str
    #: The token ids of the text, including timestamps.
    tokens: list[int] = field(repr=False)
    #: The temperature at which the window was decoded.
    temperature: float
    #: The mean log-probability of the window's tokens.
    avg_logprob: float
    #: The compression ratio of the window's text, which is high if the text repeats itself.
    compression_ratio: float
    #: The probability that the window contains no speech.
    no_speech_prob: float
    #: The words; None without ``word_timestamps=``.
    words: list[TranscriptWord] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Transcript:
    """The transcript of a recording. ``str(transcript)`` is the text."""

    #: The text of all segments.
    text: str
    #: The code of the language, such as ``"en"``.
    language: str
    #: The probability of the detected language; 1 if the language was given.
    language_probability: float
    #: The length of the recording in seconds.
    duration: float
    segments: list[TranscriptSegment] = field(repr=False)
    #: Whether the recording ends before its stated length. If so, a RuntimeWarning is issued, too.
    is_cut: bool = False

    def __str__(self) -> str:
        return self.text

    def to(self, format: TranscriptFormat, **lines: Unpack[_options.TranscriptLineOptions]) -> str:
        """Returns the transcript in a format of openai-whisper (``"txt"``, ``"vtt"``, ``"srt"``, ``"tsv"``, ``"json"``)
        or in ``"lrc"``.

        These options apply to subtitles, and need word times:

        - ``max_line_width``: the maximum number of characters of a line.
        - ``max_line_count``: the maximum number of lines of a subtitle.
        - ``max_words_per_line``: the maximum number of words of a subtitle. Ignored if both options above are given.
        - ``highlight_words=True``: underline each word while it is spoken.

        Raises ConfigError for other formats, and for these options without word times.
        """
        check_names("to", lines, _options.LINES)
        if all(each.words is None for each in self.segments) and self.segments:
            for name, value in lines.items():
                if value is not None and value is not False:
                    raise ConfigError(f"{name}: there are no word times, expected word_timestamps=True in transcribe()")
        return _engine.format_transcript(dataclasses.asdict(self), format, lines)

    def as_dict(self) -> dict[str, Any]:
        """Returns a dict like the result of openai-whisper's ``transcribe``."""
        return {"text": self.text, "segments": [_as_dict(each) for each in self.segments], "language": self.language}


def _as_dict(segment: TranscriptSegment) -> dict[str, Any]:
    values = dataclasses.asdict(segment)
    if segment.words is None:
        del values["words"]
    return values


def make_segment(fields: dict[str, Any], has_words: bool) -> TranscriptSegment:
    """Makes a segment from the extension's fields."""
    words = [TranscriptWord(**each) for each in fields["words"]] if has_words else None
    return TranscriptSegment(**{**fields, "words": words})


def _warn_if_cut(fields: dict[str, Any]) -> None:
    if fields["is_cut"]:
        warnings.warn("the recording ends before its stated length (is_cut)", RuntimeWarning, stacklevel=4)


def make_transcript(fields: dict[str, Any], has_words: bool) -> Transcript:
    """Makes a transcript from the extension's fields."""
    _warn_if_cut(fields)
    return Transcript(**{**fields, "segments": [make_segment(each, has_words) for each in fields["segments"]]})


@dataclass(frozen=True)
class UnalignedWord:
    """A word of a known text that was not found in the recording."""

    word: str
    #: The index of the word among all words of the text.
    index: int
    #: The ``AlignedLine.id`` of the word's line.
    segment: int


@dataclass(frozen=True)
class AlignedLine:
    """A line of a known text. Without aligned words its times are None."""

    id: int
    #: Start and end, in seconds from the start of the recording.
    start: float | None
    end: float | None
    #: The line, without the line end.
    text: str


@dataclass(frozen=True)
class Alignment:
    """The forced alignment of a known text with a recording."""

    #: The text as given.
    text: str
    #: The code of the language, such as ``"en"``.
    language: str
    #: The length of the recording in seconds.
    duration: float
    #: The words that were found, in order.
    words: list[TranscriptWord] = field(repr=False)
    #: The words that were not found.
    unaligned: list[UnalignedWord]
    #: The lines that are not blank.
    segments: list[AlignedLine] = field(repr=False)
    #: See ``Transcript.is_cut``.
    is_cut: bool
    _fields: dict[str, Any] = field(repr=False, compare=False)

    def to(self, format: AlignmentFormat) -> str:
        """Returns the alignment in a format. ``"json"`` and ``"textgrid"`` contain words and lines; ``"srt"``, ``"vtt"``
        and ``"tsv"`` only lines.

        Raises ConfigError for other formats.
        """
        return _engine.format_alignment(self._fields, format)


def make_alignment(fields: dict[str, Any]) -> Alignment:
    """Makes an alignment from the extension's fields."""
    _warn_if_cut(fields)
    words: list[TranscriptWord] = []
    unaligned: list[UnalignedWord] = []
    lines: list[AlignedLine] = []
    for line in fields["segments"]:
        for word in line["words"]:
            text = word["word"].strip()
            if math.isnan(word["start"]):
                unaligned.append(UnalignedWord(text, len(words) + len(unaligned), line["id"]))
            else:
                words.append(TranscriptWord(**{**word, "word": text}))
        start, end = (None, None) if math.isnan(line["start"]) else (line["start"], line["end"])
        lines.append(AlignedLine(line["id"], start, end, line["text"]))
    return Alignment(fields["text"], fields["language"], fields["duration"], words, unaligned, lines, fields["is_cut"], fields)
