"""Tests with DeepL's own client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import deepl
import pytest

from serving import KEY, Server, pronounced


@pytest.fixture
def client(server: Server) -> Iterator[deepl.DeepLClient]:
    with closing(deepl.DeepLClient("any-key", server_url=server.url)) as client:
        yield client


@pytest.fixture
def german_client(german_server: Server) -> Iterator[deepl.DeepLClient]:
    with closing(deepl.DeepLClient("any-key", server_url=german_server.url)) as client:
        yield client


def translated(client: deepl.DeepLClient, text: str, **options: Any) -> deepl.TextResult:
    result = client.translate_text(text, **{"target_lang": "ARPABET", **options})
    assert isinstance(result, deepl.TextResult)
    return result


def test_texts(client: deepl.DeepLClient) -> None:
    sources = ["dog", "", "naïve café", "cat"]
    results = client.translate_text(sources, target_lang="arpabet")
    assert isinstance(results, list)
    dog, cafe, cat = pronounced("dog", "naïve café", "cat")
    assert [each.text for each in results] == [dog, "", cafe, cat]
    assert [each.billed_characters for each in results] == [3, 0, 10, 3]
    one = translated(client, "cat", source_lang="EN-GB", formality="prefer_more")
    assert (one.text, one.detected_source_lang, one.billed_characters) == (cat, "EN", 3)
    assert translated(client, "The cat sat on the mat.").detected_source_lang == "EN"


def test_html(client: deepl.DeepLClient) -> None:
    result = translated(client, '<p id="dog">cat</p>\n<p translate="no">dog</p>', tag_handling="html")
    assert result.text == f'<p id="dog">{pronounced("cat")[0]}</p>\n<p translate="no">dog</p>'


def test_split_sentences(client: deepl.DeepLClient) -> None:
    text = "A cat. A\ndog."
    cat, a, dog, whole, a_dog = pronounced("A cat.", "A", "dog.", "A cat. A dog.", "A dog.")

    for split in (None, deepl.SplitSentences.ALL):
        assert translated(client, text, split_sentences=split).text == f"{cat} {a}\n{dog}"
    assert translated(client, text, split_sentences=deepl.SplitSentences.OFF).text == whole
    assert translated(client, text, split_sentences=deepl.SplitSentences.NO_NEWLINES).text == f"{cat} {a_dog}"


def test_a_connection_serves_many_calls(client: deepl.DeepLClient) -> None:
    """GET requests with a body between other requests."""
    for _ in range(3):
        assert [(each.code, each.name) for each in client.get_source_languages()] == [("EN", "English")]
        (target,) = client.get_target_languages()
        assert (target.code, target.supports_formality) == ("ARPABET", False)
        assert translated(client, "dog").text == pronounced("dog")[0]
        usage = client.get_usage()
        assert usage.character.valid and not usage.any_limit_reached


def test_keys(guarded: Server) -> None:
    with closing(deepl.DeepLClient(KEY, server_url=guarded.url)) as client:
        assert translated(client, "cat").text == pronounced("cat")[0]
        assert client.get_source_languages()
        assert client.get_usage().character.valid
    with closing(deepl.DeepLClient("wrong", server_url=guarded.url)) as client:
        for call in (lambda: client.translate_text("cat", target_lang="DE"), client.get_usage,
                     client.get_source_languages, client.get_target_languages):  # fmt: skip
            with pytest.raises(deepl.AuthorizationException, match=r"message: .*key"):
                call()


def test_refusals(client: deepl.DeepLClient) -> None:
    rows: list[tuple[dict[str, Any], str]] = [
        ({"target_lang": "DE"}, "'de'"),
        ({"source_lang": "EN", "target_lang": "EN-GB"}, "'en'"),
        ({"source_lang": "FR"}, "'fr'"),
        ({"formality": "more"}, "formality"),
        ({"tag_handling": "markdown"}, "tag_handling"),
        ({"tag_handling": "html", "ignore_tags": "x"}, "ignore_tags"),
        ({"tag_handling": "xml", "splitting_tags": "x"}, "splitting_tags"),
        ({"style_rule": "an-id"}, "style_id"),
        ({"split_sentences": "sometimes"}, "split_sentences"),
        ({"glossary": "an-id", "source_lang": "EN"}, "'glossary_id' .* keeps no glossaries"),
        ({"glossary_ids": ["an-id"], "source_lang": "EN"}, "'glossary_ids'"),
        ({"extra_body_parameters": {"text": 5}}, "text"),
        ({"extra_body_parameters": {"target_lang": ["DE"]}}, "target_lang"),
    ]
    for options, message in rows:
        with pytest.raises(deepl.DeepLException, match=rf"Bad request, message: .*{message}") as error:
            translated(client, "cat", **options)
        assert error.value.http_status_code == 400
    with pytest.raises(deepl.DeepLException, match="1024") as error:
        client.translate_text(["cat"] * 1025, target_lang="ARPABET")
    assert error.value.http_status_code in (400, 413)
    with pytest.raises(deepl.DeepLException, match="unknown path") as error:
        client.list_glossaries()
    assert error.value.http_status_code == 404


def test_elements_of_xml(german_client: deepl.DeepLClient, pairs: list[tuple[str, str]]) -> None:
    source, target = pairs[0]
    words, others = source.split(), target.split()

    def of_xml(text: str, **options: Any) -> str:
        options |= {"target_lang": "DE", "source_lang": "EN", "tag_handling": "xml", "context": "A context"}
        return translated(german_client, text, **options).text

    assert of_xml(source) == target
    marked = " ".join([f"<g id='1'>{words[0]}</g>", *words[1:]])
    assert of_xml(marked) == " ".join([f"<g id='1'>{others[0]}</g>", *others[1:]])
    # Weblate sends placeholders in this form.
    marked = " ".join([words[0], '<x id="7">%s</x>', *words[1:]])
    assert '<x id="7">%s</x>' in of_xml(marked, ignore_tags=["x"])
    assert of_xml('<x id="7"/> &lt; 5', ignore_tags=["x"]) == '<x id="7"/> &lt; 5'
    with pytest.raises(deepl.DeepLException, match="Bad request"):
        of_xml("a</x><x>b")
