"""Ends, at exit, all work of the engine before the interpreter ends."""

from __future__ import annotations

import atexit
import weakref
from typing import Protocol

from . import _encdec


class Closable(Protocol):
    def close(self) -> None: ...


_open: weakref.WeakSet[Closable] = weakref.WeakSet()


def close_at_exit(thing: Closable) -> None:
    """Closes an object that has threads, if it still exists at exit."""
    _open.add(thing)


@atexit.register
def _close_all() -> None:
    try:
        _encdec.end_calls()
    finally:  # also after Ctrl-C
        for thing in list(_open):
            thing.close()
