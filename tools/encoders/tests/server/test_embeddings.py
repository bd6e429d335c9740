"""Vectors: embedding classes of frameworks, huggingface_hub, and the other endpoints of text-embeddings-inference."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from huggingface_hub import InferenceClient
from huggingface_hub.errors import BadRequestError, HfHubHTTPError
from langchain_openai import OpenAIEmbeddings
from pydantic import SecretStr

from packed import unpacked
from serving import EMBEDDER, KEY, Server, embeddings, float32_bytes, model_arguments, run, running

GOLDEN = Path(__file__).parents[1] / "golden"
SPLADE, M3 = (unpacked(GOLDEN / f"sparse_encoders/{name}") / "model" for name in ("bert", "bge_m3"))
TEXTS = ["the cat", "Singing in the rain!", "a", "the cat"]


def langchain(server: Server, key: str = "any-key", model: str = "embedder", **options: int) -> OpenAIEmbeddings:
    """Returns a client. With check_embedding_ctx_length it would send ids of OpenAI's own tokenizer."""
    return OpenAIEmbeddings(base_url=server.url + "/v1", api_key=SecretStr(key), model=model, max_retries=0,
                            check_embedding_ctx_length=False, **options)  # type: ignore[arg-type]  # fmt: skip


def test_langchain(server: Server, guarded: Server) -> None:
    class_, wanted = langchain(server), embeddings(TEXTS)
    assert float32_bytes(class_.embed_documents(TEXTS, chunk_size=3)) == wanted.tobytes()
    assert float32_bytes(class_.embed_query("the cat")) == wanted[0].tobytes()
    assert float32_bytes(asyncio.run(class_.aembed_documents(TEXTS))) == wanted.tobytes()
    short = langchain(server, dimensions=5).embed_documents(TEXTS)
    assert float32_bytes(short) == embeddings(TEXTS, dimensions=5).tobytes()
    with pytest.raises(openai.NotFoundError, match="'nobody'"):
        langchain(server, model="nobody").embed_query("a")
    with pytest.raises(openai.AuthenticationError, match="key"):
        langchain(guarded, key="wrong").embed_query("a")
    assert len(langchain(guarded, key=KEY).embed_query("a")) == 16


def test_llama_index(server: Server, guarded: Server) -> None:
    module = pytest.importorskip("llama_index.embeddings.text_embeddings_inference")
    class_ = module.TextEmbeddingsInference(model_name="embedder", base_url=server.url, embed_batch_size=3)
    wanted = embeddings(TEXTS)
    assert float32_bytes(class_.get_text_embedding_batch(TEXTS)) == wanted.tobytes()
    assert float32_bytes(class_.get_query_embedding("the cat")) == wanted[0].tobytes()
    assert float32_bytes(asyncio.run(class_.aget_text_embedding_batch(TEXTS))) == wanted.tobytes()
    class_ = module.TextEmbeddingsInference(model_name="embedder", base_url=guarded.url, auth_token=KEY)
    assert float32_bytes(class_.get_query_embedding("the cat")) == wanted[0].tobytes()


def test_huggingface_hub(server: Server) -> None:
    client = InferenceClient(model=server.url + "/embed")
    assert client.feature_extraction(TEXTS).tobytes() == embeddings(TEXTS, normalize=True).tobytes()
    vectors = client.feature_extraction(TEXTS, normalize=False, dimensions=5, prompt_name="query", truncate=True)
    assert vectors.tobytes() == embeddings(TEXTS, dimensions=5, prompt_name="query").tobytes()
    assert client.feature_extraction("a", normalize=False).reshape(-1).tobytes() == embeddings(["a"]).tobytes()
    bad: list[tuple[Any, dict[str, Any], str]] = [
        (["a"], {"prompt_name": "nothing"}, "'nothing'"),
        (["a"], {"dimensions": 17}, "expected at most 16"),
        (["a " * 100], {"truncate": False}, "tokens"),
        (["a"] * 1025, {}, "1024"),
    ]
    for texts, options, message in bad:
        with pytest.raises(HfHubHTTPError, match=message) as error:
            client.feature_extraction(texts, **options)
        assert error.value.response.status_code in (413, 422)
    with pytest.raises(BadRequestError, match="inputs"):  # 400 is its status for an empty input
        client.feature_extraction([])


@pytest.fixture(scope="module")
def kinds() -> Iterator[Server]:
    with running(*model_arguments({"embedder": EMBEDDER, "splade": SPLADE, "m3": M3})) as server:
        yield server


def post(server: Server, path: str, **body: Any) -> httpx.Response:
    return httpx.post(server.url + path, json=body)


@pytest.mark.parametrize(("name", "folder"), [("splade", SPLADE), ("m3", M3)])
def test_sparse_vectors_are_those_of_the_command(kinds: Server, name: str, folder: Path) -> None:
    expected = [
        [{"index": int(token), "value": value} for token, value in vector.items()]
        for vector in run("embed", folder, TEXTS, {"sparse": True})
    ]
    with ThreadPoolExecutor(6) as pool:
        found = pool.map(lambda _: post(kinds, "/embed_sparse", model=name, inputs=TEXTS).json(), range(6))
        assert list(found) == [expected] * 6
    assert post(kinds, "/embed_sparse", model=name, inputs=TEXTS[0]).json() == expected[:1]


def test_vectors_of_tokens_are_those_of_the_command(kinds: Server) -> None:
    expected = run("embed", EMBEDDER, TEXTS, {"token_vectors": True})
    assert post(kinds, "/embed_all", inputs=TEXTS).json() == expected
    assert post(kinds, "/embed_all", inputs=TEXTS[2]).json() == expected[2:3]


def test_the_first_model_with_sparse_vectors_is_asked(kinds: Server) -> None:
    unnamed = post(kinds, "/embed_sparse", inputs=TEXTS).json()
    assert unnamed == post(kinds, "/embed_sparse", inputs=TEXTS, model="splade").json()
    types = {name: httpx.get(f"{kinds.url}/info?model={name}").json()["model_type"] for name in ("splade", "m3")}
    assert types == {"splade": {"embedding": {"pooling": "splade"}}, "m3": {"embedding": {"pooling": None}}}


def test_errors_have_the_form_of_the_service(kinds: Server) -> None:
    rows: list[tuple[str, dict[str, Any], int, str, str]] = [
        ("/embed_sparse", {"model": "embedder", "inputs": "a"}, 424, "Backend",
         "model 'embedder' embeds texts, expected one that gives sparse vectors: splade, m3"),
        ("/embed_all", {"model": "splade", "inputs": "a"}, 424, "Backend",
         "model 'splade' gives sparse vectors, expected one that gives token vectors: embedder, m3"),
        ("/embed_sparse", {"model": "nobody", "inputs": "a"}, 404, "Validation", "unknown model 'nobody'"),
        ("/embed_sparse", {"inputs": []}, 400, "Empty", "`inputs` cannot be empty"),
        ("/embed_sparse", {"inputs": {"a": 1}}, 422, "Validation", "inputs"),
    ]  # fmt: skip
    for path, body, status, kind, message in rows:
        answer = post(kinds, path, **body)
        assert (answer.status_code, answer.json()["error_type"]) == (status, kind), answer.text
        assert message in answer.json()["error"]
    with running("--model", str(EMBEDDER)) as other:
        answer = post(other, "/embed_sparse", inputs="a")
    assert answer.json() == {"error": "no model here gives sparse vectors", "error_type": "Backend"}
