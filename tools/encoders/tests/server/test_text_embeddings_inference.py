"""InferenceClient of huggingface_hub, with addresses of text-embeddings-inference."""

from __future__ import annotations

from typing import Any

import pytest
from huggingface_hub import InferenceClient
from huggingface_hub.errors import BadRequestError, HfHubHTTPError

from serving import KEY, Server, embeddings

TEXTS = ["the cat", "Singing in the rain!", "a"]


@pytest.fixture
def embedder(server: Server) -> InferenceClient:
    return InferenceClient(model=server.url + "/embed")


@pytest.mark.parametrize(
    ("options", "same"),
    [
        ({}, {"normalize": True}),
        ({"normalize": True}, {"normalize": True}),
        ({"normalize": True, "dimensions": 5}, {"normalize": True, "dimensions": 5}),
        ({"normalize": False, "dimensions": 5}, {"dimensions": 5}),
        ({"normalize": False, "prompt_name": "query"}, {"prompt_name": "query"}),
        ({"normalize": False, "truncate": True, "truncation_direction": "right"}, {}),
    ],
)
def test_options_of_feature_extraction(
    embedder: InferenceClient, options: dict[str, Any], same: dict[str, Any]
) -> None:
    vectors = embedder.feature_extraction(TEXTS, **options)
    assert vectors.shape == (3, options.get("dimensions", 16))
    assert vectors.tobytes() == embeddings(TEXTS, **same).tobytes()


def test_feature_extraction_of_one_text(embedder: InferenceClient) -> None:
    vector = embedder.feature_extraction("a", normalize=False)
    assert vector.reshape(-1).tobytes() == embeddings(["a"]).tobytes()


@pytest.mark.parametrize(
    ("text", "options", "named"),
    [
        (["a"], {"prompt_name": "nothing"}, "'nothing'"),
        (["a"], {"dimensions": 0}, "dimensions"),
        (["a"], {"dimensions": 17}, "dimensions"),  # more than the vectors have
        (["a"], {"truncation_direction": "up"}, "truncation_direction"),
        (["a " * 100], {"truncate": False}, "tokens"),
        ([5], {"normalize": "perhaps"}, "normalize"),
    ],
)
def test_bad_options_of_feature_extraction(
    embedder: InferenceClient, text: Any, options: dict[str, Any], named: str
) -> None:
    with pytest.raises(HfHubHTTPError, match=named) as error:
        embedder.feature_extraction(text, **options)
    assert error.value.response.status_code == 422


def test_no_texts(embedder: InferenceClient) -> None:
    """The status is 400: text-embeddings-inference has another status for an empty input."""
    with pytest.raises(BadRequestError, match="inputs"):
        embedder.feature_extraction([])


def test_too_many_texts(embedder: InferenceClient) -> None:
    with pytest.raises(HfHubHTTPError, match="1024"):
        embedder.feature_extraction(["a"] * 1025)
    with pytest.raises(HfHubHTTPError, match="4194304 bytes"):
        embedder.feature_extraction("cat " * (5 << 18))


def test_keys(guarded: Server) -> None:
    def client_of(token: str | None) -> InferenceClient:
        return InferenceClient(model=guarded.url + "/embed", token=token)

    assert client_of(KEY).feature_extraction("cat").size == 16
    for token in ("wrong", None):
        with pytest.raises(HfHubHTTPError, match="key") as error:
            client_of(token).feature_extraction("cat")
        assert error.value.response.status_code in (401, 403)
