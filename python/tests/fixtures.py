"""What all tests of the package share: the bundled model, and models with random weights from tests/golden."""

from __future__ import annotations

import ast
import asyncio
import doctest
import importlib
import pkgutil
import shutil
import sysconfig
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import encdec
from packed import unpacked

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


def awaited(*calls: Awaitable[Any]) -> list[Any]:
    """Returns the results of calls that run at the same time."""

    async def run() -> list[Any]:
        return await asyncio.gather(*calls)

    return asyncio.run(run())


def golden_folder(name: str) -> Path:
    """Returns the folder with this name in tests/golden, or in that of a slice. A packed one is unpacked."""
    for packed in (GOLDEN / f"{name}.txtar", *ROOT.glob(f"tools/*/tests/golden/{name}.txtar")):
        if packed.exists():
            return unpacked(packed.with_suffix(""))
    return next(each for each in (GOLDEN / name, *ROOT.glob(f"tools/*/tests/golden/{name}")) if each.exists())


@pytest.fixture(scope="session")
def golden() -> Callable[[str], encdec.Model]:
    """Returns the checkpoint in golden_folder(name)."""
    return lambda name: encdec.open_model(golden_folder(name) / "model")


@pytest.fixture(scope="session")
def command() -> str:
    """The path of the command that the wheel has installed."""
    found = shutil.which("encdec", path=sysconfig.get_path("scripts"))
    assert found is not None, "the wheel has no command encdec"
    return found


def expect_examples_to_run(package: str, **known: object) -> None:
    """Runs the examples in the docstrings of a package and its modules. They may use what is known."""
    names = [f"{package}.{each.name}" for each in pkgutil.iter_modules(importlib.import_module(package).__path__)]
    for name in (package, *names):
        assert doctest.testmod(importlib.import_module(name), extraglobs={"encdec": encdec, **known}).failed == 0, name


def expect_stub_to_be_complete(name: str) -> None:
    """Checks that the stub of the extension module, or of a slice's part of it, declares what the module has."""
    stub = Path(encdec.__file__).parent.joinpath(*name.split(".")[1:]).with_suffix(".pyi")
    declared: dict[str, set[str]] = {}
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.ClassDef):
            declared[node.name] = {each.name for each in node.body if isinstance(each, ast.FunctionDef)} - {"__init__"}
        elif isinstance(node, ast.FunctionDef):
            declared[node.name] = set()
    module = importlib.import_module(name)
    existing = {each: value for each, value in vars(module).items() if not each.startswith("_") and callable(value)}
    assert declared.keys() == existing.keys()
    for each, members in declared.items():
        if isinstance(existing[each], type):
            assert members == {member for member in vars(existing[each]) if not member.startswith("__")}, each
