"""Models for the tests: the bundled one, and models with random weights from tests/golden."""

from __future__ import annotations

import shutil
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

import encdec
import tiny_whisper

ROOT = Path(__file__).parents[2]
BUNDLED = ROOT / "models/pretrained/english-pronunciation"
NUMBERS = ROOT / "models/pretrained/english-numbers"
GOLDEN = ROOT / "tests/golden"


@pytest.fixture(scope="session")
def path() -> Path:
    return BUNDLED


@pytest.fixture(scope="session")
def model() -> encdec.Model:
    return encdec.open_model(BUNDLED)


@pytest.fixture(scope="session")
def words() -> list[str]:
    lines = (BUNDLED / "test_words.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t")[0] for line in lines if line and not line.startswith("#")]


@pytest.fixture(scope="session")
def golden() -> Callable[[str], encdec.Model]:
    """Returns the checkpoint in tests/golden with this name."""
    return lambda name: encdec.open_model(GOLDEN / name / "model")


@pytest.fixture(scope="session")
def embedder(golden: Callable[[str], encdec.Model]) -> encdec.Model:
    return golden("sentence_transformers/mean_normalized")


@pytest.fixture(scope="session")
def command() -> str:
    """The path of the command that the wheel has installed."""
    found = shutil.which("encdec", path=sysconfig.get_path("scripts"))
    assert found is not None, "the wheel has no command encdec"
    return found


@pytest.fixture(scope="session")
def speech_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_whisper.make(tmp_path_factory.mktemp("whisper"))


@pytest.fixture(scope="session")
def speech_model(speech_path: Path) -> encdec.Model:
    return encdec.open_model(speech_path)


@pytest.fixture(scope="session")
def translator(path: Path) -> encdec.Translator:
    return encdec.Translator(path, glossary={"Bob": "B AA1 B"})


@pytest.fixture
def subtitles(tmp_path: Path) -> Path:
    file = tmp_path / "talk.srt"
    file.write_text("1\n00:00:01,000 --> 00:00:02,000\nA cat.\n")
    return file


@pytest.fixture(scope="session")
def students(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of students that replace each word by its partner, in both directions: "hl" by "lmldk"."""
    folder = tmp_path_factory.mktemp("students")
    for source, target in (("en", "de"), ("de", "en"), ("en", "fr")):
        model = folder / f"{source}_{target}"
        model.mkdir()
        for file in (GOLDEN / "students/planted/model").iterdir():
            shutil.copy(file, model / file.name.replace("enxx", source + target))
    return folder


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A WAV file of half a second."""
    path = tmp_path_factory.mktemp("recordings") / "noise.wav"
    path.write_bytes(tiny_whisper.wav(tiny_whisper.noise(0.5)))
    return path
