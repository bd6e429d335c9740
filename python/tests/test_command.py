"""The package returns the same results as the command, bit by bit, and the same as transformers."""

from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

import encdec
from fixtures import BUNDLED, GOLDEN

WITH_CASES = sorted(str(each.parent.relative_to(GOLDEN)) for each in GOLDEN.glob("*/*/generation.json"))


def lines_of(*arguments: str, input: str) -> list[Any]:
    run = subprocess.run(arguments, input=input, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def float32(values: list[float]) -> bytes:
    return struct.pack(f"{len(values)}f", *values)


@pytest.mark.parametrize("name", WITH_CASES)
def test_transformers_names_and_values(name: str) -> None:
    model = encdec.open_model(GOLDEN / name / "model")
    for case in json.loads((GOLDEN / name / "generation.json").read_text())["cases"]:
        prefix = [row.get("prefix") for row in case["rows"]]
        settings = {key: [] if value is None else value for key, value in case.get("settings", {}).items()}
        options = {**settings, **case["options"]}
        results = model.generate([row["source"] for row in case["rows"]], prefix=prefix, **options)
        for row, result in zip(case["rows"], results, strict=True):
            for wanted, hypothesis in zip(row["hypotheses"], result.hypotheses, strict=True):
                assert hypothesis.token_ids == wanted["token_ids"], case["name"]
                assert hypothesis.score == pytest.approx(wanted["score"], abs=2e-4)


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "int8"])
@pytest.mark.parametrize("name", ["marian/untied", "t5/v1_0", "gpt2/with_prefix", "m2m_100/forced_bos"])
def test_ids_and_scores_equal_those_of_the_command(command: str, name: str, precision: Any) -> None:
    folder = GOLDEN / name / "model"
    model = encdec.Model(folder, precision=precision)
    vocabulary = (model.config["encoder"] or model.config["decoder"])["vocabulary"]
    sources = [[(7 * i + 3 * j) % (vocabulary - 6) + 3 for j in range(1 + i % 6)] for i in range(12)]
    rows = lines_of(
        command, "generate", "--model", str(folder), "--precision", precision, "--token-ids", "--json", "--token-scores",
        "--num-beams", "3", "--num-return-sequences", "2", "--max-new-tokens", "9", "--quiet",
        input="".join(" ".join(map(str, row)) + "\n" for row in sources),
    )  # fmt: skip
    results = model.generate(sources, num_beams=3, num_return_sequences=2, max_new_tokens=9)
    for row, result in zip(rows, results, strict=True):
        for wanted, hypothesis in zip(row["hypotheses"], result.hypotheses, strict=True):
            assert hypothesis.token_ids == wanted["token_ids"]
            assert hypothesis.score == wanted["score"]
            assert float32(hypothesis.token_scores) == float32(wanted["token_scores"])


def test_texts_equal_those_of_the_command(command: str, model: encdec.Model, words: list[str]) -> None:
    lines = lines_of(command, "generate", "--model", str(BUNDLED), "--json", input="\n".join(words[:300]) + "\n")
    assert model.translate(words[:300]) == [line["hypotheses"][0]["text"] for line in lines]


def test_scores_equal_those_of_the_command(command: str, model: encdec.Model, tmp_path: Path) -> None:
    sources, targets = ["cat", "dog"], ["K AE1 T", "D AO1 G"]
    (tmp_path / "targets").write_text("\n".join(targets) + "\n")
    wanted = lines_of(
        command, "score", "--model", str(BUNDLED), "--target", str(tmp_path / "targets"), input="\n".join(sources) + "\n"
    )
    results = model.score(sources, targets)
    assert [float32(each.token_scores) for each in results] == [float32(each["token_scores"]) for each in wanted]
    assert [each.score for each in results] == [each["score"] for each in wanted]


def test_wheel_has_the_command_of_its_version(command: str) -> None:
    output = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert encdec.__version__ in output
