"""Typical calls with their types. mypy checks this file; it is not run."""

from pathlib import Path
from typing import TYPE_CHECKING, assert_type

import numpy
import numpy.typing

import encdec

if TYPE_CHECKING:

    async def use(path: Path) -> None:
        model = encdec.Model(path, precision="int8", threads=2, workers=1, weights_cache=None, lazy=True)
        assert_type(model.translate("a"), str)
        assert_type(model.translate(["a"], num_beams=4, early_stopping="never"), list[str])
        assert_type(model.translate(["a", None], on_error="null"), list[str | None])
        assert_type(model.generate("a", seed=3), list[encdec.GenerateResult])
        assert_type(model.generate([[1, 2]], on_error="null"), list[encdec.GenerateResult | None])
        assert_type(model.generate(numpy.array([1, 2]))[0].hypotheses[0].token_ids, list[int])
        for result in model.generate_iter(line for line in open(path)):
            assert_type(result, encdec.GenerateResult)
        for piece in model.stream("a", top_p=0.9):
            assert_type(piece, str)
        async for piece in model.astream("a"):
            assert_type(piece, str)
        assert_type(await model.agenerate(["a"]), list[encdec.GenerateResult])
        assert_type(model.score("a", "b"), encdec.ScoreResult)
        assert_type(model.score(["a"], ["b"]), list[encdec.ScoreResult])
        assert_type(model.attention("a", kinds="cross").source, list[str])
        assert_type(encdec.open_model(path), encdec.Model)
        assert_type(model.tokenizer, encdec.Tokenizer | None)
        model.translate("a", num_beem=4)  # type: ignore[call-overload]
        model.generate("a", num_beams="4")  # type: ignore[call-overload]
        encdec.Model(path, precision="float8")  # type: ignore[arg-type]
        encdec.Model(path, precison="int8")  # type: ignore[arg-type]
