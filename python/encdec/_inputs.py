"""Conversion of a caller's arguments: sources to lists, paths to str."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, Union

from . import _encdec
from ._errors import FileError

if TYPE_CHECKING:
    import numpy
    import numpy.typing

    IntArray = numpy.typing.NDArray[numpy.integer[Any]]

#: A source: a text, or token ids, which are used exactly as given.
Source = Union[str, Sequence[SupportsIndex], "IntArray"]


def is_single(source: Any) -> bool:
    """Returns whether the argument is one source: a text, or a list or an array of token ids."""
    if isinstance(source, (str, bytes, bytearray)):
        return True
    if getattr(source, "ndim", None) is not None and hasattr(source, "dtype"):
        return bool(source.ndim == 0 or (source.ndim == 1 and getattr(source.dtype, "kind", "O") in "iub"))
    if not isinstance(source, (list, tuple)) or not source:
        return False
    return hasattr(source[0], "__index__") and not hasattr(source[0], "__len__")  # a token id, not an array of them


def check_single(source: Any) -> None:
    """Raises TypeError unless the argument is one source. An empty list is one source without token ids."""
    if not is_single(source) and not (hasattr(source, "__len__") and len(source) == 0):
        raise TypeError(f"source: {type(source).__name__}, expected one text, or its token ids")


def as_list(sources: Any, what: str) -> tuple[list[Any], bool]:
    """Returns a list of sources, and whether the argument was a single source."""
    if is_single(sources):
        return [sources], True
    if not isinstance(sources, Iterable) or isinstance(sources, dict):
        raise TypeError(f"{what}: {type(sources).__name__}, expected str, token ids or a list of them")
    return list(plain(sources)), False


def plain(sources: Iterable[Any]) -> Iterable[Any]:
    """Returns the argument; an Arrow column as a list, because its elements are not str."""
    found: Iterable[Any] = sources.to_pylist() if hasattr(sources, "to_pylist") else sources
    return found


def known_targets(prefix: Any, drafts: Any, count: int, single: bool) -> list[tuple[Any, Any]] | None:
    """Returns (prefix, draft) for each source, or None if neither is given. Single values apply to all sources."""
    if prefix is None and drafts is None:
        return None
    return list(zip(one_each("prefix", prefix, count, single), one_each("draft", drafts, count, single)))


def one_each(what: str, given: Any, count: int, single: bool) -> list[Any]:
    """Returns a list with one value for each source. A single value, or None, applies to all sources."""
    if given is None or is_single(given):
        return [given] * count
    each = list(given)
    plural = what + ("es" if what == "prefix" else "s")
    if (single and what == "prefix") or len(each) != count:
        raise ValueError(f"{what}: {len(each)} {plural} for {count} sources, expected one for each source")
    return each


def as_path(path: str | bytes | os.PathLike[str]) -> str:
    """Returns the path as a str. Raises FileError for a NUL byte, at which the operating system would end the path."""
    text = os.fsdecode(path)
    if "\0" in text:
        raise FileError(f"{text!r}: path contains a NUL byte")
    return text


def as_model(path: str | bytes | os.PathLike[str]) -> str:
    """Returns the absolute path of a model's folder, or OWNER/NAME unchanged."""
    text = as_path(path)
    return text if _encdec.is_hub_name(os.fsencode(text)) else os.path.abspath(text)


def is_missing(value: Any) -> bool:
    """Returns whether a value means "missing": None or, in pandas, NaN or pandas.NA."""
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ == "NAType"


def is_null(on_error: str) -> bool:
    if on_error not in ("raise", "null"):
        raise ValueError(f"on_error is {on_error!r}, expected 'raise' or 'null'")
    return on_error == "null"
