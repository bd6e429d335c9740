"""Fixtures of this slice's tests, in addition to the ones of the package."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import encdec
from fixtures import *
from fixtures import GOLDEN


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
    """A folder of student models that replace each word by its partner, "hl" by "lmldk", in both directions."""
    folder = tmp_path_factory.mktemp("students")
    for source, target in (("en", "de"), ("de", "en"), ("en", "fr")):
        model = folder / f"{source}_{target}"
        model.mkdir()
        for file in (GOLDEN / "students/planted/model").iterdir():
            shutil.copy(file, model / file.name.replace("enxx", source + target))
    return folder
