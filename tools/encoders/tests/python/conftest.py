"""What the tests of the slice share, beside what all tests of the package share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import encdec
from fixtures import *


@pytest.fixture(scope="session")
def embedder(golden: Callable[[str], encdec.Model]) -> encdec.Model:
    return golden("sentence_transformers/mean_normalized")
