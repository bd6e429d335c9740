"""The models that this process has loaded with open_model(), and the function that unpickles a model."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from . import _encdec, _inputs
from ._errors import ConfigError

_lock: AbstractContextManager[bool] = threading.RLock()
_models: dict[tuple[Any, ...], Any] = {}
model_class: type[Any]  # Model; set by its module, which imports this one


def _renew_lock() -> None:
    global _lock
    _lock = threading.RLock()  # another thread may have held the old lock during the fork


os.register_at_fork(after_in_child=_renew_lock)


def lock() -> AbstractContextManager[bool]:
    """Returns the lock to hold while a model is loaded or found."""
    return _lock


def open_model(path: str | os.PathLike[str], options: dict[str, Any]) -> Any:
    """See model.open_model()."""
    changed = {name: value for name, value in options.items() if value != model_class.DEFAULTS.get(name, model_class)}
    if changed.get("weights_cache") is not None:
        changed["weights_cache"] = os.path.abspath(os.fsdecode(changed["weights_cache"]))
    return _find(_key(_inputs.as_model(path), changed), lambda: model_class(path, **options))


def restore(path: str, options: dict[str, Any], content: str | None) -> Any:
    """Unpickles a model. Raises ConfigError if the weights have changed or the pickle has a ``weights_cache``.

    ``content`` is the hash of the weights; None if the model was not loaded when it was pickled.
    """
    if "weights_cache" in options:
        raise ConfigError(f"{path}: a pickle with a weights_cache, expected none: ENCDEC_WEIGHTS_CACHE names that folder")
    if content is None:
        return open_model(path, options)

    def load() -> Any:
        model = model_class(path, **options)
        if model._content() != content:
            raise ConfigError(f"{path}: the weights have changed, expected those of the pickled model")
        return model

    return _find((content, *_key(path, options)), load)


def _key(path: str, options: dict[str, Any]) -> tuple[Any, ...]:
    return path, *sorted((name, repr(value)) for name, value in options.items())


def _find(key: tuple[Any, ...], load: Callable[[], Any]) -> Any:
    with lock():
        model = _models.get(key)
        if model is None:
            model = _models[key] = load()
        return model


def build_info() -> dict[str, Any]:
    """Returns the versions of encdec and oneDNN, the compiler, the instruction set, and numbers of CPUs and threads.

    >>> encdec.build_info()["version"] == encdec.__version__
    True
    """
    return _encdec.build_info()
