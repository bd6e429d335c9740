"""Converts recordings from a caller to recordings for the engine."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, Union

from .. import _inputs
from .._errors import InputError
from . import _engine

if TYPE_CHECKING:
    import numpy
    import numpy.typing

    Samples = numpy.typing.NDArray[numpy.floating[Any] | numpy.int16]

SAMPLING_RATE = 16_000


class File(Protocol):
    """A file opened for bytes: a file on disk, the end of a pipe, or io.BytesIO."""

    def read(self) -> bytes: ...


#: A recording: a path, the bytes of a file, an open file, an array of samples, or a dict with an array of samples, as in
#: Hugging Face's datasets.
Recording = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, File, "Samples", Mapping[str, Any]]


def is_single(audio: Any) -> bool:
    """Returns whether the argument is one recording rather than a list."""
    if isinstance(audio, (str, os.PathLike, bytes, bytearray, memoryview, dict)) or _is_samples(audio):
        return True
    return hasattr(audio, "read") and not isinstance(audio, type)


def as_list(audio: Any) -> tuple[list[Any], bool]:
    """Returns a list of recordings, and whether the argument was a single one."""
    if is_single(audio):
        return [audio], True
    return list(as_iterable(audio)), False


def as_iterable(audio: Any) -> Iterable[Any]:
    if not isinstance(audio, Iterable):
        _refuse(audio, "audio")
    return _inputs.plain(audio)


def make_sound(audio: Any, name: str, sampling_rate: int | None, null: bool) -> _engine.Sound | None:
    """Returns a recording for the engine. With ``null``, returns None if the recording is missing or unreadable."""
    if null and _inputs.is_missing(audio):
        return None
    try:
        return _sound(audio, name, sampling_rate)
    except (InputError, OSError):
        if null:
            return None
        raise


def _sound(audio: Any, name: str, sampling_rate: int | None) -> _engine.Sound:
    if isinstance(audio, dict):
        samples = audio.get("array", audio.get("raw"))
        if not _is_samples(samples) or "sampling_rate" not in audio:
            raise TypeError(f"{name}: a dict of {', '.join(map(repr, audio))}, expected 'array' and 'sampling_rate'")
        audio, sampling_rate = samples, audio["sampling_rate"]
    if _is_samples(audio):
        return _samples(audio, name, SAMPLING_RATE if sampling_rate is None else sampling_rate)
    if not is_single(audio):
        _refuse(audio, name)
    if sampling_rate is not None:
        raise TypeError(f"sampling_rate: {name} is not an array of samples, expected no sampling_rate for files")
    if isinstance(audio, (str, os.PathLike)):
        path = os.fsencode(_inputs.as_path(audio))
        if not _is_pipe(path):
            return _engine.Sound.of_file(path)
        with open(path, "rb") as file:
            return _engine.Sound.of_bytes(file.read(), path)
    if hasattr(audio, "read"):
        name = audio.name if isinstance(getattr(audio, "name", None), str) else name
        audio = audio.read()
        if not isinstance(audio, (bytes, bytearray, memoryview)):
            raise TypeError(f"{name}: reading gives {type(audio).__name__}, expected bytes: open(path, 'rb')")
    return _engine.Sound.of_bytes(bytes(audio), os.fsencode(name))


def _samples(audio: Any, name: str, sampling_rate: int) -> _engine.Sound:
    plain, is_int16 = as_samples(audio, name)
    return _engine.Sound.of_samples(plain, os.fsencode(name), sampling_rate, is_int16)


def as_samples(audio: Any, name: str) -> tuple[Any, bool]:
    """Returns an array of float32 or int16, and whether it is int16."""
    import numpy

    samples = numpy.asarray(audio)
    if samples.ndim == 2 and 1 in samples.shape:
        samples = samples.reshape(-1)
    if samples.ndim != 1:
        raise InputError(
            f"{name}: an array {list(samples.shape)}, expected one channel [N]; to mix channels, take their mean"
        )
    if samples.dtype.kind == "f":
        with numpy.errstate(over="ignore"):  # a number that overflows becomes infinite, which is refused later
            samples = samples.astype("<f4", order="C", copy=False)
    elif samples.dtype.kind == "i" and samples.dtype.itemsize == 2:
        samples = samples.astype("<i2", order="C", copy=False)
    else:
        raise TypeError(f"{name}: samples of {samples.dtype}, expected float32 or float64 from -1 to 1, or int16")
    plain = numpy.ascontiguousarray(samples)
    return plain, plain.dtype.kind == "i"


def _is_samples(audio: Any) -> bool:
    """Returns whether the argument is an array of numbers, rather than an array of paths."""
    if getattr(audio, "ndim", None) is None or not hasattr(audio, "dtype"):
        return False
    return getattr(audio.dtype, "kind", "f") in "fiubc"


def _is_pipe(path: bytes) -> bool:
    """Returns whether a path is a pipe or a device. These can be read only once, so Python reads them for the engine."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _refuse(audio: Any, name: str) -> None:
    raise TypeError(
        f"{name}: {type(audio).__name__}, expected a path, the bytes of a file, an open file, an array of samples"
        + (", or a list of these" if name == "audio" else "")
    )
