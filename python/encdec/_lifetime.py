"""Ends all work of the engine at exit, before the interpreter ends."""

from __future__ import annotations

import atexit
import weakref
from typing import Protocol

from . import _encdec


class Closable(Protocol):
    def close(self) -> None: ...


_open: weakref.WeakSet[Closable] = weakref.WeakSet()


def close_at_exit(thing: Closable) -> None:
    """Registers an object with threads, to be closed at exit if it still exists."""
    _open.add(thing)


@atexit.register
def _close_all() -> None:
    try:
        _encdec.end_calls()
    finally:  # even after Ctrl-C
        for thing in list(_open):
            thing.close()
