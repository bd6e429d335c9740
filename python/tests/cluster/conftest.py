"""Fixtures for the tests on clusters: the words, and the results of the command for them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

EXAMPLES = Path(__file__).parents[3] / "examples/clusters"


@pytest.fixture(scope="session")
def lines(words: list[str]) -> list[str]:
    """Lines with a word, and empty lines."""
    return [*words, "", *words[:50]]


@pytest.fixture(scope="session")
def expected(command: str, path: Path, lines: list[str]) -> list[str]:
    """The result of the command for each line."""
    call = [command, "generate", "--model", str(path), "--precision", "int8", "--quiet"]
    text = "".join(line + "\n" for line in lines)
    return subprocess.run(call, input=text, capture_output=True, text=True, check=True).stdout.split("\n")[:-1]


@pytest.fixture(scope="session")
def table(lines: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of Parquet files with the lines, and two rows that have no result."""
    folder = tmp_path_factory.mktemp("words")
    (folder / "lines.txt").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    run_example("make_table.py", folder / "lines.txt", folder / "table")
    bad = pyarrow.table({"id": [-2, -1], "text": pyarrow.array([None, "cat " * 10_000], pyarrow.string())})
    pyarrow.parquet.write_table(bad, folder / "table/bad.parquet")
    return folder / "table"


@pytest.fixture(scope="session")
def example() -> Callable[..., str]:
    return run_example


def run_example(name: str, *arguments: object, **environment: str) -> str:
    """Runs one of the examples, as a user does, and returns its output."""
    call = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    done = subprocess.run(call, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stderr[-10_000:]
    return done.stdout


@pytest.fixture
def check(expected: list[str], lines: list[str]) -> Callable[[Path], None]:
    """Returns a function that compares the rows in a folder with the results of the command."""

    def compare(folder: Path) -> None:
        rows: list[dict[str, Any]] = pyarrow.parquet.read_table(folder).to_pylist()
        rows.sort(key=lambda row: row["id"])
        assert [row["id"] for row in rows] == list(range(-2, len(lines)))
        assert [row["result"] for row in rows[:2]] == [None, None]
        assert [row["text"] for row in rows[2:]] == lines
        assert [row["result"] for row in rows[2:]] == expected

    return compare
