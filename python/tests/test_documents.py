"""The examples in docstrings and in the guide run, the types are right, and the stub is complete."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from scikit_build_core.settings.skbuild_read_settings import SettingsReader

import encdec
from encdec import _encdec, _options
from fixtures import ROOT, expect_stub_to_be_complete

MODULES = [f"encdec.{each.name}" for each in pkgutil.iter_modules(encdec.__path__) if not each.ispkg]


@pytest.mark.parametrize("name", ["encdec", *(each for each in MODULES if each != "encdec._encdec")])
def test_examples_run(name: str, path: Path, model: encdec.Model) -> None:
    known = {"path": path, "model": model, "encdec": encdec}
    assert doctest.testmod(importlib.import_module(name), extraglobs=known).failed == 0


def test_examples_of_the_guide_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False, encoding="utf-8")
    assert found.attempted >= 4
    assert found.failed == 0


def test_public_things_are_described() -> None:
    for name in encdec.__all__:
        thing = getattr(encdec, name)
        if not inspect.isclass(thing) and not inspect.isfunction(thing):
            continue
        assert thing.__doc__, name
        for member, value in inspect.getmembers(thing):
            if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                assert value.__doc__, f"{name}.{member}"


def test_mypy_finds_nothing(tmp_path: Path) -> None:
    arguments = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(tmp_path)]
    uses = [Path(__file__).with_name("typed_use.py"), *ROOT.glob("tools/*/tests/python/typed_use.py")]
    for what in (["-p", "encdec"], *([str(use)] for use in uses)):
        run = subprocess.run([sys.executable, "-m", "mypy", *arguments, *what], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout


def test_the_stub_has_what_the_extension_has() -> None:
    expect_stub_to_be_complete("encdec._encdec")


def test_two_builds_of_one_checkout_share_no_folder() -> None:
    """scikit-build-core makes a temporary build folder if the project does not name one."""
    assert SettingsReader.from_file(ROOT / "pyproject.toml", {}).settings.build_dir == ""


def test_the_extension_is_for_the_pythons_that_its_wheel_names() -> None:
    assert _encdec.__file__.endswith(".abi3.so") == (sys.version_info >= (3, 12))


def test_the_extension_shows_nothing_but_its_entry() -> None:
    if (nm := shutil.which("nm")) is None:
        pytest.skip("no nm")
    run = subprocess.run([nm, "-D", "--defined-only", _encdec.__file__], capture_output=True, text=True, check=True)
    assert [line.split()[-1] for line in run.stdout.splitlines()] == ["PyInit__encdec"]


def test_types_know_all_options_of_the_library() -> None:
    """The types have all options except the unsupported ones, which the library knows only to refuse them."""
    known = set(_options.GenerateOptions.__annotations__)
    assert known <= _options.GENERATE
    model = encdec.open_model(ROOT / "models/pretrained/english-pronunciation")
    assert set(model.generation_config) <= known
    assert (encdec._options.GENERATE - known) == set(UNSUPPORTED)


UNSUPPORTED = (
    "num_beam_groups diversity_penalty penalty_alpha typical_p epsilon_cutoff eta_cutoff min_p guidance_scale "
    "renormalize_logits remove_invalid_values token_healing sequence_bias watermarking_config "
    "constraints stop_strings max_time top_h forced_decoder_ids"
).split()
