"""Requests for transcripts; see _requests.py."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .. import _encdec
from .._lifetime import close_at_exit
from .._requests import REFUSED, with_segments
from . import _engine

_SOUNDS = 48  # maximum number of submitted recordings per worker
_SOUND_BYTES = 64 << 20  # maximum memory of submitted recordings; a single recording may exceed it


def segments_of(model: _engine.SpeechModel, sound: _engine.Sound, options: Any) -> Iterator[tuple[str, Any]]:
    """Yields ("segment", fields) for each segment of a recording, then ("result", fields) without segments."""
    queue = _engine.queue_for(model, options)
    close_at_exit(queue)
    inbox = _encdec.Inbox()
    try:
        _engine.submit_sound(queue, inbox, 0, model, sound, options)
        while True:
            for _, _, kind, value in inbox.take():
                if kind == "failure":
                    raise value
                if kind == "result":
                    yield kind, value
                    return
                for segment in value:
                    yield "segment", segment
            inbox.wait()
    finally:
        queue.close()


def transcripts(
    model: _engine.SpeechModel, sounds: Iterable[tuple[int, _engine.Sound | None]], options: Any, null: bool
) -> Iterator[tuple[int, Any]]:
    """Yields (number, fields of the transcript) for each recording, in the order in which they are finished.

    Iterates over ``sounds`` in the caller's thread. With ``null``, an unreadable recording yields None for its fields.
    """
    most = _SOUNDS * (options.get("workers") or 1)
    queue = _engine.queue_for(model, options)
    close_at_exit(queue)
    inbox = _encdec.Inbox()
    open_bytes: dict[int, int] = {}  # memory of each recording that is submitted but not finished
    segments: dict[int, list[Any]] = {}
    iterator = iter(sounds)
    at_end = False
    try:
        while True:
            for number, _, kind, value in inbox.take():
                if kind == "segments":
                    segments.setdefault(number, []).extend(value)
                    continue
                if kind == "failure":
                    if not (null and isinstance(value, REFUSED)):
                        raise value
                    value = None
                else:
                    value = with_segments(value, segments.pop(number, None))
                del open_bytes[number]
                yield number, value
            has_room = not open_bytes or (len(open_bytes) < most and sum(open_bytes.values()) < _SOUND_BYTES)
            if not at_end and has_room:
                try:
                    number, sound = next(iterator)
                except StopIteration:
                    at_end = True
                    continue
                if sound is None:
                    yield number, None
                else:
                    _engine.submit_sound(queue, inbox, number, model, sound, options)
                    open_bytes[number] = sound.size
            elif open_bytes:
                inbox.wait()
            else:
                return
    finally:
        queue.close()
