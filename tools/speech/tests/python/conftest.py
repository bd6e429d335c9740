"""Fixtures of the speech tests, in addition to those of all Python tests."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import encdec
import sounds
from fixtures import *
from fixtures import GOLDEN


@pytest.fixture(scope="session")
def speech_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Whisper with random weights. It never detects a language that is written without spaces."""
    folder = tmp_path_factory.mktemp("models") / "whisper"
    shutil.copytree(GOLDEN / "whisper_formats/hugging_face", folder)
    file = folder / "generation_config.json"
    settings = json.loads(file.read_text(encoding="utf-8")) | {"is_multilingual": True}
    file.write_text(json.dumps(settings), encoding="utf-8")
    file = folder / "added_tokens.json"
    tokens = file.read_text(encoding="utf-8")
    file.write_text(re.sub(r"<\|(zh|ja|th|lo|my|yue)\|>", r"<|no \1|>", tokens), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def speech_model(speech_path: Path) -> encdec.Model:
    return encdec.open_model(speech_path)


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A WAV file of half a second."""
    path = tmp_path_factory.mktemp("recordings") / "noise.wav"
    path.write_bytes(sounds.wav(sounds.noise(0.5)))
    return path
