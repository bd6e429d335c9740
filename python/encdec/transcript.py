"""What transcribing gives: plain values, which compare, print and pickle as such."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from . import _encdec, _options
from ._errors import ConfigError

if TYPE_CHECKING:
    from typing_extensions import Unpack

TranscriptFormat = Literal["txt", "vtt", "srt", "tsv", "json", "lrc"]


@dataclass(frozen=True)
class TranscriptWord:
    """A word of a segment."""

    #: With the space before it, and the punctuation that belongs to it.
    word: str
    #: Seconds of the recording.
    start: float
    end: float
    #: The mean of its tokens'.
    probability: float


@dataclass(frozen=True)
class TranscriptSegment:
    """A stretch of a recording and its text; names and values are those of openai-whisper."""

    #: From 0.
    id: int
    #: Where the window that it is of begins, in frames of 10 ms.
    seek: int
    #: Seconds of the recording.
    start: float
    end: float
    #: As it was decoded: with a space before it.
    text: str
    #: Of the text, with those that stand for times.
    tokens: list[int] = field(repr=False)
    #: At which the window was decoded.
    temperature: float
    #: Mean log-probability of the window's tokens.
    avg_logprob: float
    #: Of the window's text: high where it repeats itself.
    compression_ratio: float
    #: That the window has no speech.
    no_speech_prob: float
    #: None where ``word_timestamps=`` did not ask for them.
    words: list[TranscriptWord] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Transcript:
    """What was said in a recording; ``str()`` of it is the text."""

    #: Of all segments.
    text: str
    #: Its code, ``"en"``.
    language: str
    #: 1 where the language was told.
    language_probability: float
    #: Seconds.
    duration: float
    segments: list[TranscriptSegment] = field(repr=False)

    def __str__(self) -> str:
        return self.text

    def to(self, format: TranscriptFormat, **lines: Unpack[_options.TranscriptLineOptions]) -> str:
        """As openai-whisper writes it: ``"txt"``, ``"vtt"``, ``"srt"``, ``"tsv"`` or ``"json"``; and ``"lrc"``.

        Where there are word times, ``max_line_width`` characters make a line of a subtitle and ``max_line_count`` lines
        a subtitle, or ``max_words_per_line`` words; with ``highlight_words=True`` each is underlined as it is spoken.

        Raises ConfigError for other formats, and for these options where there are no word times.
        """
        _options.check_names("to", lines, _options.LINES)
        if all(each.words is None for each in self.segments) and self.segments:
            for name, value in lines.items():
                if value is not None and value is not False:
                    raise ConfigError(f"{name}: there are no word times, expected word_timestamps=True in transcribe()")
        return _encdec.format_transcript(dataclasses.astuple(self), format, lines)

    def as_dict(self) -> dict[str, Any]:
        """What openai-whisper's ``transcribe`` gives."""
        return {"text": self.text, "segments": [_as_dict(each) for each in self.segments], "language": self.language}


def _as_dict(segment: TranscriptSegment) -> dict[str, Any]:
    values = dataclasses.asdict(segment)
    if segment.words is None:
        del values["words"]
    return values


def make_segment(parts: tuple[Any, ...]) -> TranscriptSegment:
    """From what the extension gives."""
    if (words := parts[-1]) is not None:
        parts = (*parts[:-1], [TranscriptWord(*each) for each in words])
    return TranscriptSegment(*parts)


def make_transcript(parts: tuple[Any, ...]) -> Transcript:
    text, language, language_probability, duration, segments = parts
    return Transcript(text, language, language_probability, duration, [make_segment(each) for each in segments])
