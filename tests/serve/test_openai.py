"""OpenAI's own client."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any, cast

import openai
import pytest
from openai import OpenAI

from serving import EMBEDDER, KEY, PRONUNCIATION, Server, embeddings, float32_bytes, generate, texts

TEXTS = ["the cat", "Singing in the rain!", "a", "An unknown ☃, and more than the model can take. " * 8]


def client_of(server: Server, key: str = "any-key") -> OpenAI:
    return OpenAI(base_url=server.url + "/v1", api_key=key, max_retries=0)


@pytest.fixture
def client(server: Server) -> OpenAI:
    return client_of(server)


def embed(client: OpenAI, texts: Any, **options: Any) -> bytes:
    answer = client.embeddings.create(model="embedder", input=texts, **options)
    assert [each.index for each in answer.data] == list(range(len(answer.data)))
    if options.get("encoding_format") == "base64":  # the client does not decode base64 that was requested
        return b"".join(base64.b64decode(cast(str, each.embedding), validate=True) for each in answer.data)
    return float32_bytes([each.embedding for each in answer.data])


@pytest.mark.parametrize("encoding", [{}, {"encoding_format": "base64"}, {"encoding_format": "float"}], ids=str)
@pytest.mark.parametrize("options", [{}, {"dimensions": 5}], ids=str)
def test_embeddings_equal_those_of_the_command(
    client: OpenAI, encoding: dict[str, Any], options: dict[str, Any]
) -> None:
    """The client requests base64 by default."""
    assert embed(client, TEXTS, **encoding, **options) == embeddings(TEXTS, **options).tobytes()


def test_the_client_asks_for_base64(client: OpenAI) -> None:
    raw = client.embeddings.with_raw_response.create(model="embedder", input="a")
    assert b'"encoding_format":"base64"' in raw.http_request.content.replace(b" ", b"")
    assert isinstance(raw.http_response.json()["data"][0]["embedding"], str)


def test_token_ids(client: OpenAI) -> None:
    vocabulary = (EMBEDDER / "vocab.txt").read_text(encoding="utf-8").split("\n")
    ids = [vocabulary.index("the"), vocabulary.index("a")]
    assert embed(client, [ids, ids[1:]]) == embed(client, ["the a", "a"])
    assert embed(client, ids) == embed(client, "the a")


def test_embedding_usage(client: OpenAI) -> None:
    answer = client.embeddings.create(model="embedder", input=["a", "the a"])
    assert (answer.model, answer.object) == ("embedder", "list")
    assert answer.usage.prompt_tokens == answer.usage.total_tokens == (1 + 2) + (2 + 2)


def test_completions(client: OpenAI) -> None:
    words = ["cat", "pronunciation", "cat"]
    answer = client.completions.create(model="english-pronunciation", prompt=words)
    wanted = generate(PRONUNCIATION, words)
    assert [each.text for each in answer.choices] == [each[0]["text"] for each in wanted]
    assert [each.index for each in answer.choices] == [0, 1, 2]
    assert {each.finish_reason for each in answer.choices} == {"stop"}
    assert answer.object == "text_completion"
    assert answer.id.startswith("cmpl-")
    assert answer.usage is not None
    assert answer.usage.completion_tokens == sum(len(each[0]["token_ids"]) for each in wanted)
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


@pytest.mark.parametrize(
    ("options", "of_the_command"),
    [
        ({"max_tokens": 3}, {"max_new_tokens": 3}),
        ({"temperature": 0}, {}),
        ({"n": 3}, {"num_beams": 3, "num_return_sequences": 3}),  # the best of beams
        ({"n": 2, "temperature": 1.25, "top_p": 0.75, "seed": 7},
         {"num_return_sequences": 2, "do_sample": True, "temperature": 1.25, "top_p": 0.75, "seed": 7}),
    ],
)  # fmt: skip
def test_options(client: OpenAI, speller: Path, options: dict[str, Any], of_the_command: dict[str, Any]) -> None:
    prompts = ["abc def", "face"]
    answer = client.completions.create(model="speller", prompt=prompts, **options)
    wanted = generate(speller, prompts, **of_the_command)
    assert [each.text for each in answer.choices] == [each["text"] for row in wanted for each in row]


def test_echo_and_log_probabilities(client: OpenAI, speller: Path) -> None:
    answer = client.completions.create(model="speller", prompt="abc", max_tokens=5, echo=True, logprobs=2)
    wanted = generate(speller, ["abc"], max_new_tokens=5, token_scores=True, top_log_probs=2)[0][0]
    assert answer.choices[0].text == "abc" + wanted["text"]
    logs = answer.choices[0].logprobs
    assert logs is not None
    assert logs.token_logprobs is not None
    assert logs.tokens is not None
    assert "".join(logs.tokens) == wanted["text"]
    assert float32_bytes(logs.token_logprobs) == float32_bytes(wanted["token_scores"])
    for token, score, best in zip(logs.tokens, logs.token_logprobs, logs.top_logprobs or [], strict=True):
        assert len(best) == 2
        assert float32_bytes(best[token]) == float32_bytes(score)


def test_stops(client: OpenAI, speller: Path) -> None:
    whole = texts(speller, ["abc def"], max_new_tokens=12)[0]
    parts = {whole[i : i + size] for size in (1, 2, 3) for i in range(len(whole) - size + 1)}
    assert len(parts) > 5
    options: dict[str, Any] = {"model": "speller", "prompt": "abc def", "max_tokens": 12}
    ends = [(part, whole[: whole.index(part)], "stop") for part in sorted(parts)]
    for stop, text, reason in [*ends, (["☃", "~~"], whole, "length"), (["~~", *sorted(parts)[:3]], None, "stop")]:
        if text is None:
            text = min((whole.split(each)[0] for each in stop), key=len)
        answer = client.completions.create(stop=stop, **options)
        assert (answer.choices[0].text, answer.choices[0].finish_reason) == (text, reason)
        scored = client.completions.create(stop=stop, logprobs=1, **options)
        assert scored.choices[0].text == text
        assert scored.usage == answer.usage
        stream = client.completions.create(stop=stop, stream=True, stream_options={"include_usage": True}, **options)
        *chunks, last = list(stream)
        assert "".join(each.choices[0].text for each in chunks) == text
        assert chunks[-1].choices[0].finish_reason == reason
        assert last.usage == answer.usage
    several = client.completions.create(model="speller", prompt=["abc", "face"], n=2, max_tokens=9, stop=whole[0])
    assert not any(whole[0] in each.text for each in several.choices)
    for wrong in ("", ["a"] * 5, [1]):
        with pytest.raises(openai.BadRequestError, match="stop"):
            client.completions.create(stop=cast(Any, wrong), **options)


def test_streamed_completion(client: OpenAI) -> None:
    whole = client.completions.create(model="english-pronunciation", prompt="pronunciation")
    stream = client.completions.create(
        model="english-pronunciation", prompt="pronunciation", stream=True, stream_options={"include_usage": True}
    )
    *chunks, last = list(stream)
    assert len(chunks) > 2
    assert "".join(each.choices[0].text for each in chunks) == whole.choices[0].text
    assert [each.choices[0].finish_reason for each in chunks] == [None] * (len(chunks) - 1) + ["stop"]
    assert {each.id for each in chunks} == {last.id}
    assert all(each.usage is None for each in chunks)
    assert last.choices == []
    assert last.usage == whole.usage


def test_streamed_log_probabilities(client: OpenAI) -> None:
    options: dict[str, Any] = {"model": "speller", "prompt": "abc", "max_tokens": 4, "logprobs": 1}
    whole = client.completions.create(**options).choices[0]
    chunks = [each.choices[0] for each in client.completions.create(stream=True, **options)]
    assert "".join(each.text for each in chunks) == whole.text
    assert chunks[-1].finish_reason == whole.finish_reason == "length"
    assert whole.logprobs is not None
    scores = [score for each in chunks if each.logprobs for score in each.logprobs.token_logprobs or []]
    assert scores == whole.logprobs.token_logprobs


def test_models(client: OpenAI, models: dict[str, Path]) -> None:
    listed = client.models.list().data
    assert [each.id for each in listed] == list(models)
    for name in models:
        model = client.models.retrieve(name)
        assert (model.id, model.object, model.owned_by) == (name, "model", "encdec")
        assert model.created > 0


def test_model_with_a_name_as_on_the_hub(client: OpenAI) -> None:
    answer = client.embeddings.create(model="tests/embedder", input="a")
    assert answer.model == "tests/embedder"


def test_unknown_model(client: OpenAI) -> None:
    for call in (
        lambda: client.models.retrieve("nobody"),
        lambda: client.embeddings.create(model="nobody", input="a"),
        lambda: client.completions.create(model="nobody", prompt="a"),
        lambda: client.completions.create(model="nobody", prompt="a", stream=True),
    ):
        with pytest.raises(openai.NotFoundError, match="'nobody'") as error:
            call()
        assert error.value.code == "model_not_found"


def test_model_that_does_something_else(client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="english-pronunciation"):
        client.embeddings.create(model="english-pronunciation", input="a")
    with pytest.raises(openai.NotFoundError, match="embedder"):
        client.completions.create(model="embedder", prompt="a")


def test_no_chat(client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="/v1/completions"):
        client.chat.completions.create(model="speller", messages=[{"role": "user", "content": "a"}])


def test_keys(guarded: Server) -> None:
    assert embed(client_of(guarded, KEY), "a") == embeddings(["a"]).tobytes()
    for key in ("wrong", KEY + "x", KEY[:-1]):
        client = client_of(guarded, key)
        for call in (
            lambda: client.models.list(),
            lambda: client.embeddings.create(model="embedder", input="a"),
            lambda: client.completions.create(model="speller", prompt="a", stream=True),
        ):
            with pytest.raises(openai.AuthenticationError, match="key") as error:
                call()
            assert error.value.code == "invalid_api_key"


BODIES = {"embeddings": {"model": "embedder", "input": "a"}, "completions": {"model": "speller", "prompt": "a"}}


@pytest.mark.parametrize(
    ("resource", "options", "named"),
    [
        ("embeddings", {"input": []}, "input"),
        ("embeddings", {"input": [[]]}, "input"),
        ("embeddings", {"input": 5}, "input"),
        ("embeddings", {"input": [1000]}, "1000"),
        ("embeddings", {"dimensions": 0}, "dimensions"),
        ("embeddings", {"dimensions": 17}, "dimensions"),  # more than the vectors have
        ("embeddings", {"encoding_format": "int8"}, "encoding_format"),
        ("completions", {"prompt": []}, "prompt"),
        ("completions", {"prompt": 5}, "prompt"),
        ("completions", {"prompt": "abc" * 30}, "30"),  # more tokens than positions
        ("completions", {"max_tokens": 0}, "max_tokens"),
        ("completions", {"max_tokens": 5000}, "4096"),
        ("completions", {"temperature": 3}, "temperature"),
        ("completions", {"temperature": "hot"}, "temperature"),
        ("completions", {"n": 17}, "'n'"),
        ("completions", {"n": 2, "stream": True}, "stream"),
        ("completions", {"logprobs": -1}, "logprobs"),
        ("completions", {"logit_bias": {"5": 100}}, "logit_bias"),
        ("completions", {"suffix": "b"}, "suffix"),
        ("completions", {"best_of": 3}, "best_of"),
        ("completions", {"frequency_penalty": 1}, "frequency_penalty"),
        ("completions", {"presence_penalty": 1}, "presence_penalty"),
        ("completions", {"seed": -1}, "seed"),
    ],
)
def test_bad_parameters(client: OpenAI, resource: str, options: dict[str, Any], named: str) -> None:
    with pytest.raises(openai.BadRequestError, match=named) as error:
        getattr(client, resource).create(**{**BODIES[resource], **options})
    assert error.value.type == "invalid_request_error"
    assert error.value.request_id


def test_too_many_inputs(client: OpenAI) -> None:
    for call in (
        lambda: client.embeddings.create(model="embedder", input=["a"] * 1025),
        lambda: client.completions.create(model="speller", prompt=["a"] * 1025),
    ):
        with pytest.raises(openai.APIStatusError, match="1024") as error:
            call()
        assert error.value.status_code in (400, 413)


def test_too_long_body(client: OpenAI) -> None:
    with pytest.raises(openai.APIStatusError, match="4194304 bytes") as error:
        client.embeddings.create(model="embedder", input="cat " * (5 << 18))
    assert error.value.status_code == 413
