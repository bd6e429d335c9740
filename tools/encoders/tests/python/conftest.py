"""What the tests of the slice share, beside what all tests of the package share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import encdec

sys.path.insert(0, str(Path(__file__).parents[4] / "python/tests"))

from fixtures import *


@pytest.fixture(scope="session")
def embedder(golden: Callable[[str], encdec.Model]) -> encdec.Model:
    return golden("sentence_transformers/mean_normalized")
