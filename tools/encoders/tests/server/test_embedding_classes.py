"""Embedding classes of frameworks."""

from __future__ import annotations

import asyncio

import openai
import pytest
from langchain_openai import OpenAIEmbeddings
from pydantic import SecretStr

from serving import KEY, Server, embeddings, float32_bytes

TEXTS = ["the cat", "Singing in the rain!", "a", "the cat"]


def langchain(server: Server, key: str = "any-key", model: str = "embedder", **options: int) -> OpenAIEmbeddings:
    """check_embedding_ctx_length would send ids of OpenAI's own tokenizer."""
    return OpenAIEmbeddings(
        base_url=server.url + "/v1",
        api_key=SecretStr(key),
        model=model,
        max_retries=0,
        check_embedding_ctx_length=False,
        **options,  # type: ignore[arg-type]
    )


def test_langchain(server: Server) -> None:
    class_ = langchain(server)
    wanted = embeddings(TEXTS)
    assert float32_bytes(class_.embed_documents(TEXTS)) == wanted.tobytes()
    assert float32_bytes(class_.embed_documents(TEXTS, chunk_size=3)) == wanted.tobytes()
    assert float32_bytes(class_.embed_query("the cat")) == wanted[0].tobytes()
    assert float32_bytes(asyncio.run(class_.aembed_documents(TEXTS))) == wanted.tobytes()


def test_langchain_with_dimensions(server: Server) -> None:
    vectors = langchain(server, dimensions=5).embed_documents(TEXTS)
    assert float32_bytes(vectors) == embeddings(TEXTS, dimensions=5).tobytes()


def test_langchain_errors(server: Server, guarded: Server) -> None:
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
