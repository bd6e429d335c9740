"""Sparse vectors and vectors of tokens, compared with those of sentence-transformers and FlagEmbedding."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import encdec
from fixtures import golden_folder


@pytest.fixture(params=["bert", "bge_m3", "roberta_bare_untied"])
def case(request: pytest.FixtureRequest) -> Any:
    folder = golden_folder(f"sparse_encoders/{request.param}")
    return encdec.open_model(folder / "model"), json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def test_sparse_vectors(case: Any) -> None:
    model, expected = case
    texts = expected["texts"]
    found = model.embed_sparse(texts)
    for vector, wanted in zip(found, expected["vectors"], strict=True):
        assert vector.token_ids == wanted["ids"]
        assert numpy.allclose(vector.values, wanted["values"], atol=2e-5)
    assert model.embed_sparse(texts[0]) == found[0]
    assert model.embed_sparse([]) == []

    async def ask() -> Any:
        return await asyncio.gather(model.aembed_sparse(texts), model.aembed_sparse(texts[1]))

    assert asyncio.run(ask()) == [found, found[1]]


def test_vectors_of_tokens(golden: Callable[[str], encdec.Model]) -> None:
    model = golden("sparse_encoders/bge_m3")
    expected = json.loads((golden_folder("sparse_encoders/bge_m3") / "expected.json").read_text(encoding="utf-8"))
    texts = expected["texts"]
    for vectors, wanted in zip(model.embed_colbert(texts), expected["colbert"], strict=True):
        assert numpy.allclose(vectors, wanted, atol=1e-5)
    tokens, single = model.embed_tokens(texts), model.embed_tokens(texts[0])
    assert [each.shape[0] for each in tokens] == [len(each) + 1 for each in expected["colbert"]]
    assert (single == tokens[0]).all() and single.dtype == numpy.float32

    async def ask() -> Any:
        return await model.aembed_tokens(texts), await model.aembed_colbert(texts[0])

    again, colbert = asyncio.run(ask())
    assert all((one == other).all() for one, other in zip(again, tokens, strict=True))
    assert (colbert == model.embed_colbert(texts[0])).all()


def test_other_models_are_refused(embedder: encdec.Model) -> None:
    with pytest.raises(encdec.ConfigError, match="no sparse vectors, expected a model with SpladePooling"):
        embedder.embed_sparse("a")
    with pytest.raises(encdec.ConfigError, match="no ColBERT vectors"):
        asyncio.run(embedder.aembed_colbert(["a"]))
    with pytest.raises(TypeError, match="unexpected keyword argument 'normalize'"):
        embedder.embed_sparse("a", normalize=True)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="unexpected keyword argument 'output'"):
        embedder.embed("a", output="sparse")  # type: ignore[call-arg]
