"""Requests of several callers to one model, which share batches.

The engine's threads never run Python. They put events into an inbox. An event loop watches the inbox's descriptor; a
thread without an event loop waits for the inbox.
"""

from __future__ import annotations

import asyncio
import itertools
import weakref
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator
from typing import Any

from . import _encdec
from ._errors import FileError, InputError, TokenizerError
from ._lifetime import close_at_exit

_numbers = itertools.count(1)
Receiver = Callable[[int, str, Any], None]  # index of a source, kind of event such as "result", value


class _Post:
    """The inbox of an event loop. The loop watches it while there are receivers."""

    def __init__(self) -> None:
        self._inbox = _encdec.Inbox()
        self._receivers: dict[int, Receiver] = {}

    def open(self, loop: asyncio.AbstractEventLoop, receiver: Receiver) -> int:
        if not self._receivers:
            loop.add_reader(self._inbox.fileno(), self._deliver)
        number = next(_numbers)
        self._receivers[number] = receiver
        return number

    def close(self, loop: asyncio.AbstractEventLoop, number: int) -> None:
        del self._receivers[number]
        if not self._receivers and not loop.is_closed():
            loop.remove_reader(self._inbox.fileno())

    @property
    def inbox(self) -> _encdec.Inbox:
        return self._inbox

    def _deliver(self) -> None:
        for number, source, kind, value in self._inbox.take():
            if (receiver := self._receivers.get(number)) is not None:
                receiver(source, kind, value)


_posts: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Post] = weakref.WeakKeyDictionary()


def _post_of(loop: asyncio.AbstractEventLoop) -> _Post:
    post = _posts.get(loop)
    if post is None:
        post = _posts[loop] = _Post()
    return post


#: A function (inbox, number, indices) that submits the sources with these indices as request ``number``. Their events
#: go to the inbox.
Submit = Callable[[_encdec.Inbox, int, list[int]], _encdec.Request]

REFUSED = (InputError, TokenizerError, FileError)  # errors of a single source, which ``on_error="null"`` accepts


async def gather(submit: Submit, count: int, null: bool, one_by_one: bool = False) -> list[Any]:
    """Returns the values of all sources. Cancelling the task cancels the sources.

    The first failure cancels the other sources and is raised. With ``null``, a source that the model does not accept
    gives None instead. With ``one_by_one``, each source is a separate request.
    """
    loop = asyncio.get_running_loop()
    values: list[Any] = [None] * count
    if count == 0:
        return values
    post = _post_of(loop)
    done: asyncio.Future[None] = loop.create_future()
    requests: list[_encdec.Request] = []
    numbers: list[int] = []  # the number of each request
    segments: dict[int, list[Any]] = {}
    missing = count

    def settle() -> None:
        nonlocal missing
        missing -= 1
        if missing == 0 and not done.done():
            done.set_result(None)

    def receive_for(first: int) -> Receiver:
        def receive(source: int, kind: str, value: Any) -> None:
            if kind == "segments":
                segments.setdefault(first, []).extend(value)
                return
            if kind != "failure":
                values[first + source] = with_segments(value, segments.pop(first, None))
            elif not (null and isinstance(value, REFUSED)):
                if not done.done():
                    done.set_exception(value)
                return
            settle()

        return receive

    try:
        # With ``null`` too, each source is a request, because one invalid source makes its whole request fail.
        for first, size in ((each, 1) for each in range(count)) if null or one_by_one else ((0, count),):
            number = post.open(loop, receive_for(first))
            numbers.append(number)
            try:
                requests.append(submit(post.inbox, number, list(range(first, first + size))))
            except REFUSED:
                if not null:
                    raise
                settle()
        await done
    finally:
        for request in requests:
            request.cancel()
        for number in numbers:
            post.close(loop, number)
    return values


def with_segments(fields: Any, segments: list[Any] | None) -> Any:
    """Returns a transcript's fields with the segments that arrived before it."""
    return fields if segments is None else {**fields, "segments": segments}


def in_order(queue: _encdec.SourceQueue, inbox: _encdec.Inbox, sources: Iterable[Any], null: bool, ahead: int) -> Iterator[Any]:
    """Yields the values of all sources in order. Iterates over the sources in the caller's thread.

    Reads at most ``ahead`` sources before their values are yielded. Raises an invalid source's error after the values
    of the previous sources.
    """
    close_at_exit(queue)
    values: dict[int, Any] = {}
    read = written = 0
    failure: Exception | None = None
    iterator = iter(sources)
    at_end = False
    try:
        while True:
            # Yield the values that have arrived, then add a source, or wait if enough are waiting.
            for _, index, kind, value in inbox.take():
                if kind == "failure":
                    raise value
                values[index] = value
            while written in values:
                yield values.pop(written)
                written += 1
            if at_end and written == read:
                break
            if at_end or read - written >= ahead:
                inbox.wait()
                continue
            try:
                source = next(iterator)
            except StopIteration:
                at_end = True
                continue
            try:
                queue.add(source, read, null)
            except REFUSED as error:
                if not null:
                    failure, at_end = error, True
                    continue
                values[read] = None
            read += 1
    finally:
        queue.close()
    if failure is not None:
        raise failure


async def pieces(submit: Submit, tokenizer: _encdec.Tokenizer) -> AsyncGenerator[str, None]:
    """Yields the text of a source's result in parts, as soon as they are final. Closing the iterator cancels it."""
    loop = asyncio.get_running_loop()
    post = _post_of(loop)
    news: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
    number = post.open(loop, lambda source, kind, value: news.put_nowait((kind, value)))
    request: _encdec.Request | None = None
    try:
        request = submit(post.inbox, number, [0])
        text = _encdec.TextStream(tokenizer)
        kind = ""
        while kind != "result":
            kind, value = await news.get()
            if piece := _piece(text, kind, value):
                yield piece
    finally:
        if request is not None:
            request.cancel()
        post.close(loop, number)


def pieces_here(submit: Submit, tokenizer: _encdec.Tokenizer) -> Generator[str, None, None]:
    """Like ``pieces`` without an event loop: the caller's thread waits."""
    inbox = _encdec.Inbox()
    request = submit(inbox, 0, [0])
    try:
        text = _encdec.TextStream(tokenizer)
        kind = ""
        while kind != "result":
            inbox.wait()
            for _, _, kind, value in inbox.take():
                if piece := _piece(text, kind, value):
                    yield piece
    finally:
        request.cancel()


def _piece(text: _encdec.TextStream, kind: str, value: Any) -> str:
    if kind == "failure":
        raise value
    return text.push(value) if kind == "tokens" else text.finish()
