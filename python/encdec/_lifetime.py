"""Closes, at exit, objects that have threads, so that the threads end before the interpreter does."""

from __future__ import annotations

import atexit
import weakref
from typing import Protocol


class Closable(Protocol):
    def close(self) -> None: ...


_open: weakref.WeakSet[Closable] = weakref.WeakSet()


def close_at_exit(thing: Closable) -> None:
    _open.add(thing)


@atexit.register
def _close_all() -> None:
    for thing in list(_open):
        thing.close()
