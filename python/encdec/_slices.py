"""The slices of this build: packages beside this module, with the names that the extension knows."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import _encdec

SLICES: list[ModuleType] = [importlib.import_module(f".{name}", __package__) for name in _encdec.slices]


def methods() -> list[type]:
    """Returns the classes with the methods that slices add to Model."""
    return [each.METHODS for each in SLICES if hasattr(each, "METHODS")]


def pipelines() -> dict[str, Callable[..., Any]]:
    """Returns the classes of slices' pipelines, by task."""
    return {task: made for each in SLICES for task, made in getattr(each, "PIPELINES", {}).items()}
