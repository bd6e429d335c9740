"""Scores, labels and similarities: Cohere's client, huggingface_hub, and the endpoints that other clients call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cohere
import httpx
import pytest
from huggingface_hub import InferenceClient

from packed import unpacked
from serving import EMBEDDER, Server, embeddings, model_arguments, run, running

GOLDEN = Path(__file__).parents[1] / "golden"
RANKER, INFERENCE = (unpacked(GOLDEN / "classifiers" / name) / "model" for name in ("reranker", "inference"))
QUERY = "who sat on the mat?"
DOCUMENTS = ["a dog", "the cat sat on a mat.", "", "a dog"]


@pytest.fixture(scope="module")
def labeller() -> Iterator[Server]:
    models = {"ranker": RANKER, "inference": INFERENCE, "embedder": EMBEDDER}
    with running(*model_arguments(models)) as server:
        yield server


def post(server: Server, path: str, body: dict[str, Any]) -> Any:
    return httpx.post(server.url + path, json=body).json()


def ranked(**options: Any) -> list[dict[str, Any]]:
    return run("rerank", RANKER, DOCUMENTS, {"query": QUERY, "json": True, **options})


def labels_of(text: str, **options: Any) -> Any:
    return run("classify", INFERENCE, [text], {"json": True, "all_scores": True, **options})[0]["labels"]


@pytest.mark.parametrize("top_n", [None, 2])
def test_cohere(labeller: Server, top_n: int | None) -> None:
    for client in (cohere.Client("a key", base_url=labeller.url), cohere.ClientV2("a key", base_url=labeller.url)):
        answer = client.rerank(model="ranker", query=QUERY, documents=DOCUMENTS, top_n=top_n)
        found = [(each.index, each.relevance_score) for each in answer.results]
        assert found == [(each["index"], each["score"]) for each in ranked()][:top_n]


def test_cohere_errors(labeller: Server) -> None:
    client = cohere.ClientV2("a key", base_url=labeller.url)
    with pytest.raises(cohere.errors.BadRequestError, match="cannot be empty"):
        client.rerank(model="ranker", query=QUERY, documents=[])
    with pytest.raises(cohere.errors.NotFoundError, match="'inference' classifies texts, expected one that ranks"):
        client.rerank(model="inference", query=QUERY, documents=DOCUMENTS)


def scores(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"index": each["index"], "score": each["score"]} for each in rows]


def test_text_embeddings_inference(labeller: Server) -> None:
    def rerank(**body: Any) -> Any:
        return post(labeller, "/rerank", {"query": QUERY, "texts": DOCUMENTS, **body})

    assert rerank() == scores(ranked()) and rerank(raw_scores=True) == scores(ranked(raw_scores=True))
    assert rerank(return_text=True)[0]["text"] == DOCUMENTS[ranked()[0]["index"]]
    assert rerank(texts=[])["error_type"] == "Validation"
    assert "expected left or right" in rerank(truncation_direction="up\0")["error"]
    long = ["the cat " * 60 + each for each in DOCUMENTS]
    assert len({each["score"] for each in rerank(texts=long, truncation_direction="Right")}) == 1
    assert len({each["score"] for each in rerank(texts=long, truncation_direction="Left")}) > 1


def test_modules_of_a_cross_encoder() -> None:
    folder = unpacked(GOLDEN / "classifiers/modules") / "model"
    with running("--model", str(folder)) as server:
        found = post(server, "/rerank", {"query": QUERY, "texts": DOCUMENTS})
        kind = httpx.get(server.url + "/info").json()["model_type"]
    assert found == scores(run("rerank", folder, DOCUMENTS, {"query": QUERY, "json": True}))
    assert list(kind) == ["reranker"]


def test_jina(labeller: Server) -> None:
    body = {"model": "ranker", "query": QUERY, "documents": [{"text": each} for each in DOCUMENTS], "top_n": 1}
    answer = post(labeller, "/v1/rerank", body)
    [best] = ranked(top_n=1)
    assert answer["results"] == [
        {"index": best["index"], "relevance_score": best["score"], "document": {"text": best["document"]}}
    ]
    assert answer["usage"]["total_tokens"] > 0
    assert "documents[0]" in post(labeller, "/v1/rerank", {**body, "documents": [1]})["detail"]


def test_predict(labeller: Server) -> None:
    def predict(inputs: Any) -> Any:
        return post(labeller, "/predict", {"model": "inference", "inputs": inputs})

    assert predict("the cat") == predict(["the cat"]) == labels_of("the cat")
    assert predict(["the cat", "a"]) == labels_of("the cat\ta", pairs=True)
    assert predict([["the cat"], ["the cat", "a"]]) == [predict("the cat"), predict(["the cat", "a"])]
    assert "list of 3" in predict([["a", "b", "c"]])["error"]


def test_sentence_similarity(labeller: Server) -> None:
    client = InferenceClient(model=labeller.url + "/similarity")
    same, other = client.sentence_similarity("the cat", other_sentences=["the cat", "a dog"])
    one, two = embeddings(["the cat", "a dog"], normalize=True)
    assert same == pytest.approx(1) and other == pytest.approx(float(one @ two), abs=1e-6)


def test_models_say_what_they_are_for(labeller: Server) -> None:
    def kind(name: str) -> Any:
        return httpx.get(f"{labeller.url}/info?model={name}").json()["model_type"]

    assert kind("ranker") == {"reranker": {"id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0}}}
    assert list(kind("inference")) == ["classifier"] and list(kind("embedder")) == ["embedding"]
    answer = post(labeller, "/embed", {"model": "ranker", "inputs": "a"})
    assert "classifies texts, expected one that embeds texts: embedder" in answer["error"]
