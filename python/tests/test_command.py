"""The package returns the same results as the command, bit by bit."""

from __future__ import annotations

import json
import struct
import subprocess
from typing import Any

import pytest

import encdec
from fixtures import GOLDEN


def lines_of(*arguments: str, input: str) -> list[Any]:
    run = subprocess.run(arguments, input=input, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def float32(values: list[float]) -> bytes:
    return struct.pack(f"{len(values)}f", *values)


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


def test_wheel_has_the_command_of_its_version(command: str) -> None:
    output = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert encdec.__version__ in output
