"""The slices of this build: packages in this folder, named by ``_encdec.slices``.

A slice has ``__all__``, the names that package encdec exports. It may have ``METHODS``, a class with methods for Model,
and ``PIPELINES``, classes by task.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import _encdec


def _load(name: str) -> ModuleType:
    # Each slice imports its part of the extension module as _engine.
    sys.modules[f"{__package__}.{name}._engine"] = getattr(_encdec, name)
    return importlib.import_module(f".{name}", __package__)


SLICES = [_load(name) for name in _encdec.slices]
METHODS: list[type] = [each.METHODS for each in SLICES if hasattr(each, "METHODS")]
PIPELINES: dict[str, Callable[..., Any]] = {
    task: made for each in SLICES for task, made in getattr(each, "PIPELINES", {}).items()
}
