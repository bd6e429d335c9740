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
    """An event of a session. Times are in seconds from the session's first sample."""

    #: ``"started"``: an utterance has begun. ``"partial"``: a text of the utterance so far. ``"stopped"``: the utterance
    #: is over. ``"final"``: its text. ``"failed"``: it has no text.
    kind: Literal["started", "partial", "stopped", "final", "failed"]
    #: Number of the utterance, from 0.
    utterance: int
    #: Start and end of the utterance, or of the part that a partial text covers.
    start: float
    end: float
    #: Partial: the words that will not change. Final: the text.
    text: str
    #: Partial: the words after ``text``, which may change.
    tail: str
    #: Final: the transcript, with times in the session.
    transcript: Transcript | None = field(default=None, repr=False)
    #: Failed: the exception.
    error: Exception | None = None


class LiveSession:
    """Transcribes speech while it is spoken; see ``Model.live``.

    Final texts depend only on the samples, and do not change.

    - ``events()`` returns the events so far without waiting.
    - ``for`` and ``async for`` wait for events. They end after the last event, which ``finish()`` causes.
    - ``with`` and ``async with`` close the session at their end.

    ``feed``, ``commit``, ``clear`` and ``finish`` do not wait for decoding. Threads may share a session.
    """

    def __init__(self, core: _engine.Live, inbox: _encdec.Inbox, has_words: bool) -> None:
        self._core, self._inbox, self._has_words = core, inbox, has_words
        self._is_over = False
        close_at_exit(core)

    def feed(self, samples: Samples | bytes | bytearray | memoryview) -> None:
        """Adds samples: an array [N] of floats from -1 to 1 or of int16, or bytes with 16 bits per sample.

        Bytes may be split anywhere. Raises InputError after ``finish()`` and ``close()``, and for a sample that is not
        finite.
        """
        if isinstance(samples, (bytes, bytearray, memoryview)):
            self._core.feed(samples, True)
        else:
            self._core.feed(*as_samples(samples, "samples"))

    def commit(self) -> bool:
        """Ends the current utterance at the last sample. Returns False if there are no samples since the previous one."""
        return self._core.commit()

    def clear(self) -> None:
        """Drops the current utterance and all samples since the previous one."""
        self._core.clear()

    def finish(self) -> None:
        """Ends the current utterance, whose text follows, and the session."""
        self._core.finish()

    def close(self) -> None:
        """Ends the session at once. Utterances without a final text are dropped."""
        self._core.close()
        self._end()

    def _end(self) -> None:
        """Ends all iterations, also in other threads and tasks, which may be waiting for the inbox."""
        self._is_over = True
        self._inbox.end()

    def events(self) -> list[LiveEvent]:
        """Returns the events since the previous call."""
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
        descriptor = os.dup(self._inbox.fileno())  # a loop allows one reader per descriptor; each task needs its own
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
