"""InferenceClient of huggingface_hub, with addresses of models and tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import InferenceClient
from huggingface_hub.errors import BadRequestError, HfHubHTTPError, TextGenerationError, ValidationError

from conftest import KEY, PRONUNCIATION, Server, embeddings, generate, pronounced, texts

TEXTS = ["the cat", "Singing in the rain!", "a"]


def client_of(server: Server, path: str = "", token: str | None = None) -> InferenceClient:
    return InferenceClient(model=server.url + path, token=token)


def for_task(server: Server, model: str, task: str) -> InferenceClient:
    return client_of(server, f"/models/{model}/pipeline/{task}")


@pytest.fixture
def translator(server: Server) -> InferenceClient:
    return for_task(server, "english-pronunciation", "translation")


@pytest.fixture
def writer(server: Server) -> InferenceClient:
    return for_task(server, "speller", "text-generation")


@pytest.fixture
def embedder(server: Server) -> InferenceClient:
    return for_task(server, "embedder", "feature-extraction")


@pytest.mark.parametrize("path", ["/models/english-pronunciation/pipeline/translation",
                                  "/models/english-pronunciation", "", "/"])  # fmt: skip
def test_translation(server: Server, path: str) -> None:
    result = client_of(server, path).translation("pronunciation")
    assert result.translation_text == pronounced("pronunciation")[0]


def test_translation_with_languages(translator: InferenceClient) -> None:
    """Languages in the spelling of /languages."""
    result = translator.translation("cat", src_lang="en", tgt_lang="arpabet")
    assert result.translation_text == pronounced("cat")[0]
    with pytest.raises(BadRequestError, match="xx"):
        translator.translation("cat", src_lang="en", tgt_lang="xx")


def test_translation_with_parameters(translator: InferenceClient) -> None:
    result = translator.translation("pronunciation", clean_up_tokenization_spaces=True, truncation="do_not_truncate",
                                    generate_parameters={"num_beams": 3, "max_new_tokens": 4})  # fmt: skip
    assert result.translation_text == pronounced("pronunciation", num_beams=3, max_new_tokens=4)[0]


def test_summarization(server: Server) -> None:
    """Any model that generates text answers."""
    client = for_task(server, "english-pronunciation", "summarization")
    result = client.summarization("cat", generate_parameters={"num_beams": 2})
    assert result.summary_text == pronounced("cat", num_beams=2)[0]


@pytest.mark.parametrize("path", ["/models/speller/pipeline/text-generation", "/models/speller"])
def test_text_generation(server: Server, speller: Path, path: str) -> None:
    client = client_of(server, path)
    wanted = texts(speller, ["abc def"], max_new_tokens=5)[0]
    assert client.text_generation("abc def", max_new_tokens=5) == wanted
    assert client.text_generation("abc def", max_new_tokens=5, return_full_text=True) == "abc def" + wanted
    wanted = texts(speller, ["abc def"], do_sample=True, seed=3, temperature=0.5, top_k=9, max_new_tokens=8)[0]
    sampled = client.text_generation("abc def", do_sample=True, seed=3, temperature=0.5, top_k=9, max_new_tokens=8)
    assert sampled == wanted


@pytest.mark.parametrize("path", ["/generate", "/models/english-pronunciation/pipeline/text2text-generation"])
def test_text_generation_by_an_encoder_and_a_decoder(server: Server, path: str) -> None:
    assert client_of(server, path).text_generation("cat") == pronounced("cat")[0]


def test_text_generation_with_details(writer: InferenceClient, speller: Path) -> None:
    wanted = generate(speller, ["abc"], max_new_tokens=5, token_scores=True)[0][0]
    result = writer.text_generation("abc", details=True, max_new_tokens=5, seed=3)
    assert result.generated_text == wanted["text"]
    assert result.details is not None
    assert result.details.finish_reason == "length"
    assert result.details.generated_tokens == 5
    assert result.details.seed == 3
    assert [each.id for each in result.details.tokens] == wanted["token_ids"]
    assert [each.logprob for each in result.details.tokens] == wanted["token_scores"]


def test_streamed_text_generation(writer: InferenceClient, speller: Path) -> None:
    pieces = list(writer.text_generation("abc", stream=True, max_new_tokens=6))
    assert len(pieces) == 6
    assert "".join(pieces) == texts(speller, ["abc"], max_new_tokens=6)[0]


def test_streamed_text_generation_with_details(writer: InferenceClient, speller: Path) -> None:
    wanted = generate(speller, ["abc"], max_new_tokens=25, token_scores=True)[0][0]
    events = list(writer.text_generation("abc", stream=True, details=True, max_new_tokens=25))
    assert [each.index for each in events] == list(range(1, len(events) + 1))
    assert [each.token.id for each in events] == wanted["token_ids"]
    assert [each.token.special for each in events] == [False] * (len(events) - 1) + [True]
    assert "".join(each.token.text for each in events if not each.token.special) == wanted["text"]
    assert [each.token.logprob for each in events] == wanted["token_scores"]
    assert all(each.generated_text is None and each.details is None for each in events[:-1])
    assert events[-1].generated_text == wanted["text"]
    details = events[-1].details
    assert details is not None
    assert (details.finish_reason, details.generated_tokens, details.input_length) == ("eos_token", len(events), 3)


def test_streams_of_text_generation_inference(server: Server) -> None:
    client = client_of(server, "/generate_stream")
    assert "".join(client.text_generation("pronunciation", stream=True)) == pronounced("pronunciation")[0]


@pytest.mark.parametrize("path", ["/models/embedder/pipeline/feature-extraction", "/models/embedder", "/embed",
                                  "/models/tests/embedder/pipeline/feature-extraction"])  # fmt: skip
def test_feature_extraction(server: Server, path: str) -> None:
    vectors = client_of(server, path).feature_extraction(TEXTS)
    assert vectors.shape == (3, 16)
    assert vectors.tobytes() == embeddings(TEXTS).tobytes()


def test_feature_extraction_of_one_text(embedder: InferenceClient) -> None:
    assert embedder.feature_extraction("a").reshape(-1).tobytes() == embeddings(["a"]).tobytes()


@pytest.mark.parametrize("path", ["/models/embedder/pipeline/feature-extraction", "/embed"])
@pytest.mark.parametrize(
    ("options", "same"),
    [
        ({"normalize": True}, {"normalize": True}),
        ({"normalize": True, "dimensions": 5}, {"normalize": True, "dimensions": 5}),
        ({"normalize": False, "dimensions": 5}, {"dimensions": 5}),
        ({"prompt_name": "query"}, {"prompt_name": "query"}),
        ({"truncate": True, "truncation_direction": "right"}, {}),
    ],
)
def test_options_of_feature_extraction(
    server: Server, path: str, options: dict[str, Any], same: dict[str, Any]
) -> None:
    vectors = client_of(server, path).feature_extraction(TEXTS, **options)
    assert vectors.tobytes() == embeddings(TEXTS, **same).tobytes()


@pytest.mark.parametrize(("path", "status"), [("/models/embedder/pipeline/feature-extraction", 400), ("/embed", 422)])
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
    server: Server, path: str, status: int, text: Any, options: dict[str, Any], named: str
) -> None:
    with pytest.raises(HfHubHTTPError, match=named) as error:
        client_of(server, path).feature_extraction(text, **options)
    assert error.value.response.status_code == status


@pytest.mark.parametrize("path", ["/models/embedder/pipeline/feature-extraction", "/embed"])
def test_no_texts(server: Server, path: str) -> None:
    """The status is 400 for both. text-embeddings-inference has another status for an empty input."""
    with pytest.raises(BadRequestError, match="inputs"):
        client_of(server, path).feature_extraction([])


def test_too_many_texts(server: Server, translator: InferenceClient, embedder: InferenceClient) -> None:
    for client in (embedder, client_of(server, "/embed")):
        with pytest.raises(HfHubHTTPError, match="1024"):
            client.feature_extraction(["a"] * 1025)
    with pytest.raises(HfHubHTTPError, match="4194304 bytes"):
        translator.translation("cat " * (5 << 18))


def test_unknown_model_and_task(server: Server) -> None:
    with pytest.raises(HfHubHTTPError, match="'nobody'"):
        for_task(server, "nobody", "translation").translation("cat")
    with pytest.raises(HfHubHTTPError, match="embedder"):
        for_task(server, "embedder", "translation").translation("cat")
    with pytest.raises(HfHubHTTPError, match="english-pronunciation"):
        for_task(server, "english-pronunciation", "feature-extraction").feature_extraction("cat")
    with pytest.raises(HfHubHTTPError, match="expected translation"):
        for_task(server, "embedder", "fill-mask").fill_mask("a [MASK]")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"max_new_tokens": 0}, "max_new_tokens"),
        ({"max_new_tokens": 5000}, "4096"),
        ({"temperature": -1.0}, "temperature"),
        ({"top_p": 2.0}, "top_p"),
        ({"seed": -1}, "seed"),
        ({"best_of": 2}, "best_of"),
        ({"frequency_penalty": 1.0}, "frequency_penalty"),
        ({"grammar": {"type": "json", "value": {}}}, "grammar"),
        ({"adapter_id": "a"}, "adapter_id"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_bad_parameters_of_text_generation(
    writer: InferenceClient, options: dict[str, Any], named: str, stream: bool
) -> None:
    with pytest.raises(ValidationError, match=named):
        writer.text_generation("abc", stream=stream, **options)


def test_too_long_prompt(writer: InferenceClient) -> None:
    with pytest.raises(ValidationError, match="tokens"):
        writer.text_generation("abc" * 30)


def test_bad_parameters_of_translation(translator: InferenceClient) -> None:
    with pytest.raises(BadRequestError, match="num_beams"):
        translator.translation("cat", generate_parameters={"num_beams": 0})
    with pytest.raises(BadRequestError, match="no_such_thing"):
        translator.translation("cat", generate_parameters={"no_such_thing": 1})


def test_keys(guarded: Server) -> None:
    path = "/models/english-pronunciation"
    assert client_of(guarded, path, KEY).translation("cat").translation_text == pronounced("cat")[0]
    for token in ("wrong", None):
        with pytest.raises(HfHubHTTPError, match="key") as error:
            client_of(guarded, path, token).translation("cat")
        assert error.value.response.status_code in (401, 403)
        with pytest.raises(HfHubHTTPError, match="key"):
            client_of(guarded, "/embed", token).feature_extraction("cat")
        with pytest.raises((HfHubHTTPError, TextGenerationError), match="key"):
            client_of(guarded, "/models/speller", token).text_generation("cat")


def test_results_of_a_model_do_not_depend_on_the_address(server: Server) -> None:
    wanted = generate(PRONUNCIATION, ["read"])[0][0]["text"]
    tasks = {"translation": "translation_text", "summarization": "summary_text"}
    for task, member in tasks.items():
        client = for_task(server, "english-pronunciation", task)
        assert getattr(getattr(client, task)("read"), member) == wanted
