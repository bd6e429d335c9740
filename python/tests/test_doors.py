"""The door `python`: runs the cases of tests/doors/contract.py with the package that is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import contract
import encdec
from contract import Refusal, Request


def hypothesis(each: Any) -> dict[str, Any]:
    names = ("text", "token_ids", "score", "token_scores", "finish_reason")
    return {name: getattr(each, name) for name in names} | {
        "top_log_probs": [[{"token": token, "log_probability": score} for token, score in at]
                          for at in each.top_log_probs]
    }  # fmt: skip


def generate(model: encdec.Model, request: Request) -> Any:
    options = {name: value for name, value in request.options.items() if name != "token_scores"}  # always there
    results = model.generate(request.input, **options)
    return [{"hypotheses": [hypothesis(each) for each in result.hypotheses], "source_tokens": result.source_tokens,
             "source_truncated": result.source_truncated} for result in results]  # fmt: skip


def score(model: encdec.Model, request: Request) -> Any:
    options = dict(request.options)
    return [{"score": each.score, "token_scores": each.token_scores}
            for each in model.score(request.input, options.pop("targets"), **options)]  # fmt: skip


class Python:
    name = "python"
    tasks: dict[str, Callable[[encdec.Model, Request], Any]] = {
        "generate": generate, "score": score, **contract.of_slices("PYTHON"),
    }  # fmt: skip

    def refusal(self, case: dict[str, Any]) -> str:
        return str(case.get("raises", "ValueError"))

    def ask(self, request: Request) -> Any:
        try:
            return self.tasks[request.task](encdec.open_model(request.model, **request.load), request)
        except Exception as error:
            raise Refusal(str(error), tuple(each.__name__ for each in type(error).__mro__)) from error


@pytest.mark.parametrize("file", contract.files(), ids=lambda file: file.stem)
def test_cases(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, output = contract.check_file(Python(), file), capsys.readouterr().out
    if status == 77:
        pytest.skip(output)
    assert status == 0, output
