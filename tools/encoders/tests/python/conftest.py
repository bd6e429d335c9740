"""Fixtures for the tests of encoders, in addition to those for all tests of the package."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import encdec
from fixtures import *


@pytest.fixture(scope="session")
def embedder(golden: Callable[[str], encdec.Model]) -> encdec.Model:
    return golden("sentence_transformers/mean_normalized")
