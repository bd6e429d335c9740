"""Typical calls with their types. mypy checks this file; it is not run."""

from typing import TYPE_CHECKING, assert_type

import numpy
import numpy.typing

import encdec

if TYPE_CHECKING:

    async def use(model: encdec.Model) -> None:
        assert_type(model.embed(["a"], normalize=True), numpy.typing.NDArray[numpy.float32])
        assert_type(await model.aembed("a"), numpy.typing.NDArray[numpy.float32])
        assert_type(model.embed_sparse("a", prompt_name="query").token_ids, list[int])
        assert_type(model.embed_sparse(["a"]), list[encdec.SparseVector])
        assert_type(model.embed_tokens(["a"]), list[numpy.typing.NDArray[numpy.float32]])
        assert_type(model.embed_colbert("a"), numpy.typing.NDArray[numpy.float32])
