"""Vectors of texts."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import numpy
import pytest

import encdec
from child_process import expect_flat_memory
from fixtures import expect_examples_to_run, expect_stub_to_be_complete, golden_folder
from test_arguments import call_with_anything
from test_command import lines_of


def test_embeddings_are_those_of_embed(embedder: encdec.Model) -> None:
    texts = [f"text {number} and {'more ' * (number % 7)}" for number in range(40)]

    async def all_of_them() -> Any:
        return await asyncio.gather(*(embedder.aembed(text) for text in texts), embedder.aembed(texts))

    *single, many = asyncio.run(all_of_them())
    expected = embedder.embed(texts)
    assert many.tobytes() == expected.tobytes()
    assert all(vector.tobytes() == row.tobytes() for vector, row in zip(single, expected, strict=True))
    assert asyncio.run(embedder.aembed([])).shape == embedder.embed([]).shape


def test_embeddings_are_arrays_that_own_their_memory(embedder: encdec.Model) -> None:
    texts = ["the cat sat", "a dog"]
    vectors = embedder.embed(texts)
    assert vectors.dtype == numpy.float32 and vectors.ndim == 2 and len(vectors) == 2
    assert vectors.flags.writeable and vectors.flags.c_contiguous
    assert vectors.base is not None  # shares the tensor's memory
    single = embedder.embed("the cat sat")
    assert single.shape == vectors.shape[1:] and single.tobytes() == vectors[0].tobytes()
    assert numpy.from_dlpack(vectors).tobytes() == vectors.tobytes()
    assert embedder.embed([]).shape == (0, vectors.shape[1])
    assert embedder.encode(texts).tobytes() == vectors.tobytes()
    short = embedder.embed(texts, dimensions=3, normalize=True)
    assert short.shape == (2, 3) and numpy.allclose(numpy.linalg.norm(short, axis=1), 1)


def test_feature_extraction_gives_nested_lists(embedder: encdec.Model, model: encdec.Model) -> None:
    extract = encdec.pipeline("feature-extraction", embedder)
    assert embedder.tokenizer is not None
    features = extract("a dog")
    assert len(features) == 1 and len(features[0]) == len(embedder.tokenizer.encode("a dog"))
    assert extract(["a dog", "the cat"])[0] == features
    assert extract("a dog", return_tensors=True).tolist() == features
    with pytest.raises(encdec.ConfigError):
        encdec.pipeline("feature-extraction", model)


@pytest.mark.parametrize("name", ["mean_normalized", "max_and_mean_dense", "last_token_dense"])
def test_embeddings_equal_those_of_the_command(command: str, name: str) -> None:
    folder = golden_folder(f"sentence_transformers/{name}") / "model"
    expected = json.loads((folder.parent / "expected.json").read_text())
    texts = [text for text in expected["texts"] if text]
    vectors = encdec.Model(folder).embed(texts)
    wanted = lines_of(command, "embed", "--model", str(folder), input="\n".join(texts) + "\n")
    assert vectors.tobytes() == numpy.array(wanted, dtype=numpy.float32).tobytes()


def test_wrong_calls_are_refused(model: encdec.Model, embedder: encdec.Model) -> None:
    with pytest.raises(encdec.ConfigError, match="encoder-only"):
        model.embed("cat")
    with pytest.raises(TypeError, match="did you mean 'normalize'"):
        embedder.embed("cat", normalise=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="text 1"):
        embedder.embed([[1, 2]])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="dimensions is -1"):
        embedder.embed("cat", dimensions=-1)
    with pytest.raises(ValueError, match="prompt"):
        embedder.embed("cat", prompt_name="unheard of")
    assert call_with_anything([embedder.embed], ["prompt", "prompt_name", "normalize", "dimensions", "no_such_option"]) > 300


def test_memory_stays_flat(embedder: encdec.Model, words: list[str]) -> None:
    expect_flat_memory(lambda: embedder.embed(words[:20]))


def test_types_and_examples() -> None:
    expect_examples_to_run("encdec.encoders")
    expect_stub_to_be_complete("encdec.encoders._engine")
