"""Classifiers and rerankers, compared with the results of transformers and sentence-transformers in tests/golden."""

from __future__ import annotations

import asyncio
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import encdec
from fixtures import golden_folder

Golden = Callable[[str], encdec.Model]


def expected(name: str) -> Any:
    return json.loads((golden_folder(f"classifiers/{name}") / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def inference(golden: Golden) -> encdec.Model:
    return golden("classifiers/inference")


@pytest.fixture(scope="session")
def reranker(golden: Golden) -> encdec.Model:
    return golden("classifiers/reranker")


@pytest.mark.parametrize("name", ["inference", "several_labels", "regression", "reranker_byte_pairs",
                                  "modules", "modules_several_labels"])  # fmt: skip
def test_scores_are_those_of_the_pipeline(golden: Golden, name: str) -> None:
    data = expected(name)
    texts = [first for first, _ in data["texts"] if first]
    for found, rows in zip(golden(f"classifiers/{name}").classify(texts), data["classify"], strict=True):
        assert found.labels == [row["label"] for row in rows]
        assert found.scores == pytest.approx([row["score"] for row in rows], abs=2e-6)
        assert (found.label, found.score) == (found.labels[0], found.scores[0])


def test_pairs_and_logits(inference: encdec.Model) -> None:
    data = expected("inference")
    firsts, seconds = zip(*data["texts"], strict=True)
    found = inference.classify(firsts, seconds, function_to_apply="none")
    labels = ["contradiction", "neutral", "Entailment"]
    for each, row in zip(found, data["pairs"], strict=True):
        assert [each.scores[each.labels.index(name)] for name in labels] == pytest.approx(row["logits"], abs=2e-5)
    assert inference.classify(firsts[0], seconds[0], function_to_apply="none") == found[0]
    assert inference.classify([]) == []
    with pytest.raises(encdec.InputError, match="2 texts and 1 pairs"):
        inference.classify(["a", "b"], ["c"])
    with pytest.raises(TypeError, match="texts and pairs"):
        inference.classify("a", ["c"])


def test_zero_shot_classification(inference: encdec.Model) -> None:
    data = expected("inference")
    text, zero_shot = data["texts"][0][0], data["zero_shot"]
    for key, options in {"single": {}, "multi": {"multi_label": True},
                         "template": {"hypothesis_template": "It is about {}, or not."}}.items():  # fmt: skip
        found = inference.classify(text, labels=zero_shot["labels"], **options)  # type: ignore[arg-type]
        assert dict(zip(found.labels, found.scores, strict=True)) == pytest.approx(zero_shot[key], abs=2e-6)
    by_commas = inference.classify([text, "a"], labels="sport, the weather , cats")
    assert by_commas[0] == inference.classify(text, labels=zero_shot["labels"]) and len(by_commas) == 2
    with pytest.raises(encdec.InputError, match="no labels"):
        inference.classify(text, labels=[])
    with pytest.raises(encdec.InputError, match="a template of 1000003 bytes for 100 inputs, expected at most 671088"):
        inference.classify(text, labels=["b"] * 100, hypothesis_template="{} " + "a" * 1_000_000)
    with pytest.raises(TypeError, match="both 'pairs' and 'labels'"):
        inference.classify(text, "a", labels="b")


def test_rerank(reranker: encdec.Model) -> None:
    data = expected("reranker")["rerank"]
    found = reranker.rerank(data["query"], data["documents"])
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    for each in found:
        assert each.score == pytest.approx(data["scores"][each.index], abs=5e-6)
        assert each.document == data["documents"][each.index]
    indices = [each.index for each in found]
    assert indices.index(1) < indices.index(4)  # equal documents
    assert reranker.rerank(data["query"], data["documents"], 2) == found[:2]
    assert reranker.rerank(data["query"], data["documents"], raw_scores=True)[0].score != found[0].score
    assert pickle.loads(pickle.dumps(found)) == found


def test_awaited_results_are_the_same(reranker: encdec.Model, inference: encdec.Model) -> None:
    data = expected("reranker")["rerank"]
    texts = ["the cat", "a", "the mat"]

    async def run() -> list[Any]:
        return await asyncio.gather(
            reranker.arerank(data["query"], data["documents"]), inference.aclassify(texts),
            inference.aclassify(texts[0]), inference.aclassify(texts, labels="a,b"), inference.aclassify([]))  # fmt: skip

    assert asyncio.run(run()) == [
        reranker.rerank(data["query"], data["documents"]), inference.classify(texts), inference.classify(texts[0]),
        inference.classify(texts, labels="a,b"), []]  # fmt: skip


def test_what_a_model_cannot_do(reranker: encdec.Model, inference: encdec.Model, embedder: encdec.Model) -> None:
    with pytest.raises(encdec.InputError, match="a query without documents"):
        reranker.rerank("a", [])
    with pytest.raises(TypeError, match="expected a list of texts"):
        reranker.rerank("a", "b")
    with pytest.raises(encdec.ConfigError, match="3 labels, expected 1"):
        inference.rerank("a", ["b"])
    for call in (lambda: embedder.classify("a"), lambda: embedder.rerank("a", ["b"])):
        with pytest.raises(encdec.ConfigError, match="without a head for labels"):
            call()
    with pytest.raises(encdec.ConfigError, match="truncation is 'x', expected longest_first, only_first, only_second"):
        inference.classify("a", truncation="x")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="unexpected keyword argument 'top_k'"):
        inference.classify("a", top_k=1)  # type: ignore[call-overload]
    with pytest.raises(encdec.InputError, match="tokens, expected at most 5"):
        inference.classify("the cat on the mat", max_length=5, long_texts="error")


def test_vectors_are_cut(embedder: encdec.Model) -> None:
    assert (embedder.embed("the cat", truncate_dim=4) == embedder.embed("the cat", dimensions=4)).all()


@pytest.mark.parametrize("name", ["word_pieces", "byte_pairs", "pieces"])
@pytest.mark.parametrize("aggregation", ["none", "simple", "first", "average", "max"])
def test_entities_are_those_of_the_pipeline(golden: Golden, name: str, aggregation: Any) -> None:
    data, model = expected(f"taggers/{name}"), golden(f"classifiers/taggers/{name}")
    if aggregation == "max":
        rows = model.tag(data["long texts"], aggregation=aggregation, ignore_labels=[], stride=7)
        assert [[each.end for each in row] for row in rows] == [[each["end"] for each in row] for row in data["max 7"]]
    found = model.tag(data["texts"], aggregation=aggregation)
    for text, entities, rows in zip(data["texts"], found, data[aggregation], strict=True):
        assert [(each.label, each.word, each.start, each.end) for each in entities] == [
            (row.get("entity") or row["entity_group"], row["word"], row["start"], row["end"]) for row in rows]  # fmt: skip
        for each in entities:
            assert text[each.start : each.end].encode() == text.encode()[each.start_byte : each.end_byte]

    async def run() -> Any:
        return await asyncio.gather(*(model.atag(each, aggregation_strategy=aggregation) for each in data["texts"]))

    assert asyncio.run(run()) == found
    assert model.tag("a", ignore_labels=[each.label for each in model.tag("a", ignore_labels=[])]) == []
    with pytest.raises(encdec.ConfigError, match="a classifier of tokens, expected a classifier of texts"):
        model.classify("a")
