"""Live transcription: samples in, events out."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from .. import _encdec
from .._lifetime import close_at_exit
from . import _engine
from .recordings import as_samples
from .transcript import Transcript, make_transcript

if TYPE_CHECKING:
    from .recordings import Samples


@dataclass(frozen=True)
class LiveEvent:
    """Something that happened in a session. Times are in seconds since its first sample."""

    #: ``"started"``: an utterance has begun. ``"partial"``: a part of its text. ``"stopped"``: it is over.
    #: ``"final"``: its text. ``"failed"``: it has no text.
    kind: Literal["started", "partial", "stopped", "final", "failed"]
    #: Number of the utterance, from 0.
    utterance: int
    #: Begin and end of the utterance, or of what a partial text is of.
    start: float
    end: float
    #: Partial: the words that later partial texts begin with, too. Final: the text.
    text: str
    #: Partial: words behind ``text`` that may change.
    tail: str
    #: Final: the text with times of segments and words.
    transcript: Transcript | None = field(default=None, repr=False)
    #: Failed: why.
    error: Exception | None = None


class LiveSession:
    """A transcription of speech while it is spoken; see ``Model.live``.

    Final texts depend on nothing but the samples, and are not taken back.

    - ``events()`` returns the events that have come so far.
    - Iterating waits for events, up to the end that ``finish()`` makes; ``async for`` does so in an event loop.
    - ``with`` and ``async with`` close the session at their end.

    ``feed`` and the others do not wait for decoding. Threads may share a session.
    """

    def __init__(self, core: _engine.Live, inbox: _encdec.Inbox, has_words: bool) -> None:
        self._core, self._inbox, self._has_words = core, inbox, has_words
        self._is_over = False
        close_at_exit(core)

    def feed(self, samples: Samples | bytes | bytearray | memoryview) -> None:
        """Adds samples: an array [N] of floats from -1 to 1 or of int16, or bytes with 16 bits a sample.

        Bytes may be cut anywhere. Raises InputError after ``finish()`` and ``close()``, and for a sample that is not a
        number.
        """
        if isinstance(samples, (bytes, bytearray, memoryview)):
            self._core.feed(samples, True)
        else:
            self._core.feed(*as_samples(samples, "samples"))

    def commit(self) -> bool:
        """Ends the current utterance at the last sample. Returns False if no sample has come since the last one."""
        return self._core.commit()

    def clear(self) -> None:
        """Drops the samples since the last utterance ended."""
        self._core.clear()

    def finish(self) -> None:
        """Ends the session. The current utterance gets its text."""
        self._core.finish()

    def close(self) -> None:
        """Ends the session without the texts that are not final."""
        self._core.close()
        self._end()

    def _end(self) -> None:
        """Ends every iteration: those of other threads and tasks wait for the inbox."""
        self._is_over = True
        self._inbox.end()

    def events(self) -> list[LiveEvent]:
        """Returns the events that have come since the last call."""
        found = []
        for _, _, _, fields in self._inbox.take():
            if fields["kind"] == "ended":
                self._end()
                continue
            transcript = fields["transcript"] and make_transcript(fields["transcript"], self._has_words)
            found.append(LiveEvent(**{**fields, "transcript": transcript}))
        return found

    def __iter__(self) -> Iterator[LiveEvent]:
        while not self._is_over:
            self._inbox.wait()
            yield from self.events()

    async def __aiter__(self) -> AsyncIterator[LiveEvent]:
        loop = asyncio.get_running_loop()
        changed = asyncio.Event()
        descriptor = os.dup(self._inbox.fileno())  # a loop has one reader for a descriptor, and each task needs its own
        loop.add_reader(descriptor, changed.set)
        try:
            while not self._is_over:
                await changed.wait()
                changed.clear()
                for event in self.events():
                    yield event
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)

    def __enter__(self) -> LiveSession:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def __aenter__(self) -> LiveSession:
        return self

    async def __aexit__(self, *error: object) -> None:
        self.close()


def open_session(
    queue: _encdec.RequestQueue, speech: _engine.SpeechModel, live: Any, options: dict[str, Any], sampling_rate: int
) -> LiveSession:
    inbox = _encdec.Inbox()
    core = _engine.Live(queue, inbox, speech, live, options, sampling_rate)
    return LiveSession(core, inbox, bool(options.get("word_timestamps")))
