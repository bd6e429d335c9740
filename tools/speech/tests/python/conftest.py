"""What the tests of the slice share, beside what all tests of the package share."""

from __future__ import annotations

from pathlib import Path

import pytest

import encdec
import tiny_whisper
from fixtures import *


@pytest.fixture(scope="session")
def speech_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_whisper.make(tmp_path_factory.mktemp("whisper"))


@pytest.fixture(scope="session")
def speech_model(speech_path: Path) -> encdec.Model:
    return encdec.open_model(speech_path)


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A WAV file of half a second."""
    path = tmp_path_factory.mktemp("recordings") / "noise.wav"
    path.write_bytes(tiny_whisper.wav(tiny_whisper.noise(0.5)))
    return path
