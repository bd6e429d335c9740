"""Vectors, labels, scores and entities as Python values. The values are those of transformers in golden/."""

from __future__ import annotations

import asyncio
import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import encdec
from child_process import expect_flat_memory
from fixtures import awaited, expect_examples_to_run, expect_stub_to_be_complete, golden_folder
from test_arguments import call_with_anything
from test_command import lines_of

Golden = Callable[[str], encdec.Model]


def expected(name: str) -> Any:
    return json.loads((golden_folder(name) / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def inference(golden: Golden) -> encdec.Model:
    return golden("classifiers/inference")


@pytest.fixture(scope="session")
def reranker(golden: Golden) -> encdec.Model:
    return golden("classifiers/reranker")


@pytest.fixture(scope="session")
def m3(golden: Golden) -> encdec.Model:
    return golden("sparse_encoders/bge_m3")


def test_embeddings_are_those_of_embed(embedder: encdec.Model, command: str) -> None:
    texts = [f"text {number} and {'more ' * (number % 7)}" for number in range(40)]
    *single, many = awaited(*map(embedder.aembed, texts), embedder.aembed(texts))
    vectors = embedder.embed(texts)
    assert many.tobytes() == vectors.tobytes()
    assert all(vector.tobytes() == row.tobytes() for vector, row in zip(single, vectors, strict=True))
    assert asyncio.run(embedder.aembed([])).shape == embedder.embed([]).shape
    folder = golden_folder("sentence_transformers/mean_normalized") / "model"
    wanted = lines_of(command, "embed", "--model", str(folder), input="\n".join(texts) + "\n")
    assert vectors.tobytes() == numpy.array(wanted, dtype=numpy.float32).tobytes()


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
    short = embedder.embed(texts, truncate_dim=3, normalize=True)
    assert short.shape == (2, 3) and numpy.allclose(numpy.linalg.norm(short, axis=1), 1)
    expect_flat_memory(lambda: embedder.embed(texts))


def test_feature_extraction_gives_nested_lists(embedder: encdec.Model, model: encdec.Model) -> None:
    extract = encdec.pipeline("feature-extraction", embedder)
    assert embedder.tokenizer is not None
    features = extract("a dog")
    assert len(features) == 1 and len(features[0]) == len(embedder.tokenizer.encode("a dog"))
    assert extract(["a dog", "the cat"])[0] == features
    assert extract("a dog", return_tensors=True).tolist() == features
    with pytest.raises(encdec.ConfigError):
        encdec.pipeline("feature-extraction", model)


def test_sparse_vectors_and_vectors_of_tokens(m3: encdec.Model) -> None:
    data = expected("sparse_encoders/bge_m3")
    texts = data["texts"]
    sparse, tokens, colbert = m3.embed_sparse(texts), m3.embed_tokens(texts), m3.embed_colbert(texts)
    for found, wanted, rows in zip(colbert, data["colbert"], tokens, strict=True):
        assert numpy.allclose(found, wanted, atol=1e-5) and len(rows) == len(found) + 1
    single = m3.embed_tokens(texts[0])
    assert (single == tokens[0]).all() and single.dtype == numpy.float32
    assert m3.embed_sparse(texts[0]) == sparse[0] and m3.embed_sparse([]) == []
    *again, many, one = awaited(m3.aembed_sparse(texts), m3.aembed_sparse(texts[1]), m3.aembed_tokens(texts),
                                m3.aembed_colbert(texts[0]))  # fmt: skip
    assert again == [sparse, sparse[1]] and (one == colbert[0]).all()
    assert all((each == other).all() for each, other in zip(many, tokens, strict=True))


def test_labels_scores_and_logits(inference: encdec.Model) -> None:
    data = expected("classifiers/inference")
    found = inference.classify("the cat")
    assert (found.label, found.score) == (found.labels[0], found.scores[0])
    firsts, seconds = zip(*data["texts"], strict=True)
    pairs = inference.classify(firsts, seconds, function_to_apply="none")
    for found, row in zip(pairs, data["pairs"], strict=True):
        assert sorted(found.scores) == pytest.approx(sorted(row["logits"]), abs=2e-5)
    assert inference.classify(firsts[0], seconds[0], function_to_apply="none") == pairs[0]
    assert inference.classify([]) == []


def test_zero_shot_classification(inference: encdec.Model) -> None:
    data = expected("classifiers/inference")
    text, zero_shot = data["texts"][0][0], data["zero_shot"]
    for key, options in {"single": {}, "multi": {"multi_label": True},
                         "template": {"hypothesis_template": "It is about {}, or not."}}.items():  # fmt: skip
        found = inference.classify(text, labels=zero_shot["labels"], **options)  # type: ignore[arg-type]
        assert dict(zip(found.labels, found.scores, strict=True)) == pytest.approx(zero_shot[key], abs=2e-6)
    by_commas = inference.classify([text, "a"], labels="sport, the weather , cats")
    assert by_commas[0] == inference.classify(text, labels=zero_shot["labels"]) and len(by_commas) == 2


def test_rerank(reranker: encdec.Model) -> None:
    query, documents = "who sat on the mat?", ["a dog", "the cat sat on a mat.", "a dog"]
    found = reranker.rerank(query, documents)
    assert reranker.rerank(query, documents, 2) == found[:2]
    assert pickle.loads(pickle.dumps(found)) == found


def test_awaited_results_are_the_same(reranker: encdec.Model, inference: encdec.Model) -> None:
    texts = ["the cat", "a", "the mat"]
    found = awaited(reranker.arerank("a", texts), inference.aclassify(texts), inference.aclassify(texts[0]),
                    inference.aclassify(texts, labels="a,b"), inference.aclassify([]))  # fmt: skip
    assert found == [reranker.rerank("a", texts), inference.classify(texts), inference.classify(texts[0]),
                     inference.classify(texts, labels="a,b"), []]  # fmt: skip


@pytest.mark.parametrize("aggregation", ["none", "simple"])
def test_entities(golden: Golden, aggregation: Any) -> None:
    texts, model = expected("classifiers/taggers/byte_pairs")["texts"], golden("classifiers/taggers/byte_pairs")
    found = model.tag(texts, aggregation=aggregation)
    assert any(found)
    for text, entities in zip(texts, found, strict=True):
        for each in entities:
            assert text[each.start : each.end].encode() == text.encode()[each.start_byte : each.end_byte]
    assert awaited(*(model.atag(each, aggregation_strategy=aggregation) for each in texts)) == found
    assert model.tag("a", ignore_labels=[each.label for each in model.tag("a", ignore_labels=[])]) == []


def test_wrong_calls_are_refused(
    model: encdec.Model, embedder: encdec.Model, inference: encdec.Model, reranker: encdec.Model
) -> None:
    calls: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: model.embed("cat"), encdec.ConfigError, "encoder-only"),
        (lambda: embedder.embed("cat", normalise=True), TypeError, "mean 'normalize'"),  # type: ignore[call-arg]
        (lambda: embedder.embed([[1, 2]]), TypeError, "text 1"),  # type: ignore[list-item]
        (lambda: asyncio.run(embedder.aembed_colbert(["a"])), encdec.ConfigError, "no ColBERT vectors"),
        (lambda: embedder.embed_sparse("a", normalize=True), TypeError, "'normalize'"),  # type: ignore[call-overload]
        (lambda: embedder.embed("a", output="sparse"), TypeError, "'output'"),  # type: ignore[call-arg]
        (lambda: reranker.rerank("a", "b"), TypeError, "expected a list of texts"),
        (lambda: inference.classify(["a", "b"], ["c"]), encdec.InputError, "2 texts but 1 pairs"),
        (lambda: inference.classify("a", ["c"]), TypeError, "texts and pairs"),  # type: ignore[call-overload]
        (lambda: inference.classify("a", "a", labels="b"), TypeError, "both 'pairs' and 'labels'"),
        (lambda: inference.classify("a", top_k=1), TypeError, "argument 'top_k'"),  # type: ignore[call-overload]
    ]
    for call, kind, message in calls:
        with pytest.raises(kind, match=message):
            call()
    assert call_with_anything([embedder.embed], ["prompt", "prompt_name", "normalize", "dimensions", "no_such"]) > 300


def test_types_and_examples() -> None:
    expect_examples_to_run("encdec.encoders")
    expect_stub_to_be_complete("encdec.encoders._engine")
