"""Sparse vectors and vectors of tokens, as text-embeddings-inference has them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from packed import unpacked
from serving import EMBEDDER, Server, model_arguments, run, running

GOLDEN = Path(__file__).parents[1] / "golden"
SPLADE, M3 = (unpacked(GOLDEN / "sparse_encoders" / name) / "model" for name in ("bert", "bge_m3"))
TEXTS = ["the cat sat on a mat.", "", "a", "Singing in the rain!"]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running(*model_arguments({"embedder": EMBEDDER, "splade": SPLADE, "m3": M3})) as server:
        yield server


def post(server: Server, path: str, body: dict[str, Any]) -> httpx.Response:
    return httpx.post(server.url + path, json=body)


@pytest.mark.parametrize(("name", "folder"), [("splade", SPLADE), ("m3", M3)])
def test_sparse_vectors_are_those_of_the_command(server: Server, name: str, folder: Any) -> None:
    expected = [
        [{"index": int(token), "value": value} for token, value in vector.items()]
        for vector in run("embed", folder, TEXTS, {"sparse": True})
    ]
    body = {"model": name, "inputs": TEXTS, "truncate": True}
    found: list[Any] = [None] * 6

    def ask(i: int) -> None:
        found[i] = post(server, "/embed_sparse", body).json()

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * len(found)
    assert post(server, "/embed_sparse", {"model": name, "inputs": TEXTS[0]}).json() == expected[:1]


def test_vectors_of_tokens_are_those_of_the_command(server: Server) -> None:
    expected = run("embed", EMBEDDER, TEXTS, {"token_vectors": True})
    assert post(server, "/embed_all", {"inputs": TEXTS}).json() == expected
    assert post(server, "/embed_all", {"inputs": TEXTS[2]}).json() == expected[2:3]


def test_the_first_model_with_sparse_vectors_is_asked(server: Server) -> None:
    unnamed = post(server, "/embed_sparse", {"inputs": TEXTS}).json()
    assert unnamed == post(server, "/embed_sparse", {"inputs": TEXTS, "model": "splade"}).json()
    types = {name: httpx.get(f"{server.url}/info?model={name}").json()["model_type"] for name in ("splade", "m3")}
    assert types == {"splade": {"embedding": {"pooling": "splade"}}, "m3": {"embedding": {"pooling": None}}}


@pytest.mark.parametrize(
    ("path", "body", "status", "kind", "message"),
    [
        ("/embed_sparse", {"model": "embedder", "inputs": "a"}, 424, "Backend",
         "model 'embedder' embeds texts, expected one that gives sparse vectors: splade, m3"),
        ("/embed_all", {"model": "splade", "inputs": "a"}, 424, "Backend",
         "model 'splade' gives sparse vectors, expected one that gives token vectors: embedder, m3"),
        ("/embed_sparse", {"model": "nobody", "inputs": "a"}, 404, "Validation", "unknown model 'nobody'"),
        ("/embed_sparse", {"inputs": []}, 400, "Empty", "`inputs` cannot be empty"),
        ("/embed_all", {"inputs": ["a " * 500], "truncate": False}, 422, "Validation", "expected at most 20"),
        ("/embed_sparse", {"inputs": "a", "normalize": True}, 422, "Validation", "not for sparse vectors"),
        ("/embed_sparse", {"inputs": {"a": 1}}, 422, "Validation", "inputs"),
    ],
)  # fmt: skip
def test_errors_have_the_form_of_the_service(
    server: Server, path: str, body: dict[str, Any], status: int, kind: str, message: str
) -> None:
    answer = post(server, path, body)
    assert (answer.status_code, answer.json()["error_type"]) == (status, kind), answer.text
    assert message in answer.json()["error"]


def test_a_server_without_such_a_model_says_so(server: Server) -> None:
    with running("--model", str(EMBEDDER)) as other:
        answer = post(other, "/embed_sparse", {"inputs": "a"})
    assert answer.status_code == 424
    assert answer.json() == {"error": "no model here gives sparse vectors", "error_type": "Backend"}
