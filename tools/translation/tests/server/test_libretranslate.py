"""Tests with libretranslatepy, and with requests of other LibreTranslate clients."""

from __future__ import annotations

import json
import re
import urllib.error
from collections.abc import Callable
from typing import Any
from urllib.request import Request, urlopen

import pytest
from libretranslatepy import LibreTranslateAPI  # type: ignore[import-untyped]

import http_door
from serving import GOLDEN, KEY, PRONUNCIATION, Server, StartServer, generate, pronounced, texts

SECOND = GOLDEN / "marian/text/model"  # random weights; its texts end at the token limit


@pytest.fixture
def client(server: Server) -> LibreTranslateAPI:
    return LibreTranslateAPI(server.url)


def refusal(call: Callable[[], Any]) -> tuple[int, str]:
    """Returns the status and the message of an error."""
    with pytest.raises(urllib.error.HTTPError) as error:
        call()
    return error.value.code, json.loads(error.value.read())["error"]


def get(url: str | Request) -> Any:
    with urlopen(url) as answer:
        return json.load(answer)


def post(url: str, body: Any, **headers: str) -> Any:
    return get(Request(url, json.dumps(body).encode(), {"Content-Type": "application/json", **headers}))


def test_texts(client: LibreTranslateAPI) -> None:
    for text in ("cat", "a & b=c%41+d"):
        assert client.translate(text, "en", "arpabet") == pronounced(text)[0]
    cat, dog, bird = pronounced("A cat.", "A dog.", "bird")
    assert client.translate("  A cat. A dog.\n\n\tbird \n", "EN-us", "Arpabet") == f"  {cat} {dog}\n\n\t{bird} \n"
    assert client.translate("bird", "auto", "arpabet") == bird


def test_languages(client: LibreTranslateAPI) -> None:
    assert client.languages() == [{"code": "en", "name": "English", "targets": ["arpabet"]}]
    best = client.detect("This is certainly a sentence that somebody has written in English.")[0]
    assert best["language"] == "en"
    assert 50 < best["confidence"] <= 100


def test_keys(guarded: Server) -> None:
    """LibreTranslate's /languages needs no key. Its client sends the key in the body of a GET request."""
    client = LibreTranslateAPI(guarded.url, api_key=KEY)
    assert client.translate("cat", "en", "arpabet") == pronounced("cat")[0]
    assert client.detect("cat")[0]["language"] == "en"
    for key in (KEY, "wrong", None):
        assert LibreTranslateAPI(guarded.url, api_key=key).languages()[0]["code"] == "en"
    assert get(guarded.url + "/frontend/settings")["keyRequired"] is True
    for key in ("wrong", None, ""):
        client = LibreTranslateAPI(guarded.url, api_key=key)
        for call in (lambda: client.translate("cat", "en", "arpabet"), lambda: client.detect("cat")):
            status, message = refusal(call)
            assert status == 403 and "key" in message


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"source": ">><<"}, "one of en"),
        ({"target": "en"}, "'en'"),
        ({"source": ""}, "source"),
        ({"q": ""}, "q parameter"),
        ({"q": 5}, "q"),
        ({"q": ["cat"] * 1025}, "1024"),
        ({"format": "xml"}, "xml"),
        ({"alternatives": 9}, "alternatives"),
        ({"glossary": "an-id"}, "'glossary' is not a JSON object"),
    ],
)
def test_refusals(server: Server, body: dict[str, Any], named: str) -> None:
    body = {"q": "cat", "source": "en", "target": "arpabet", **body}
    status, message = refusal(lambda: post(server.url + "/translate", body))
    assert status in (400, 413) and named in message


def test_lists_alternatives_and_detection_in_json(server: Server) -> None:
    words = ["cat", "dog"]
    body = {"q": words, "source": "auto", "target": "arpabet", "alternatives": 2}
    answer = post(server.url + "/translate", body)
    wanted = generate(PRONUNCIATION, words, num_beams=3, num_return_sequences=3)
    assert answer["translatedText"] == [hypotheses[0]["text"] for hypotheses in wanted]
    assert answer["alternatives"] == [[each["text"] for each in hypotheses[1:]] for hypotheses in wanted]
    assert [each["language"] for each in answer["detectedLanguage"]] == ["en", "en"]


def test_html_as_mastodon_sends_it(server: Server) -> None:
    body = {"q": ["<p>cat <b title='dog'>dog</b></p>"], "source": "en", "target": "arpabet", "format": "html"}
    answer = post(server.url + "/translate", body, Authorization="Bearer none")
    (text,) = answer["translatedText"]
    assert re.fullmatch(r"<p>K AE\d T <b title='dog'>D AO\d G</b></p>", text)
    answer = post(server.url + "/translate", {**body, "alternatives": 2})
    for text in answer["alternatives"][0]:
        assert re.findall("<[^>]*>", text) == ["<p>", "<b title='dog'>", "</b>", "</p>"]


def test_a_pair_that_no_model_has_goes_through_a_third_language(start_server: StartServer) -> None:
    models = ["--model", f"first={PRONUNCIATION}", "--model", f"second={SECOND}", "--languages", "second=arpabet:fr"]
    with start_server(*models) as server:
        body = {"q": ["A cat.", "dog"], "source": "en", "target": "fr"}
        answer = post(server.url + "/translate", body)
        assert answer["translatedText"] == texts(SECOND, pronounced("A cat.", "dog"))
        assert answer["route"] == [["en", "arpabet", "fr"]] * 2
        assert "route" not in post(server.url + "/translate", {**body, "target": "arpabet"})
        _, message = refusal(lambda: post(server.url + "/translate", {**body, "via": "never"}))
        assert message == "no single model translates from 'en' to 'fr'"
        found = {(each["source"], each["target"]): each for each in get(server.url + "/v1/routes")["routes"]}
        assert set(found) == {("en", "arpabet"), ("en", "fr"), ("arpabet", "fr")}
        assert found["en", "fr"]["route"] == ["en", "arpabet", "fr"]
        assert found["en", "fr"]["models"] == ["first", "second"]
        languages = {each["code"]: each["targets"] for each in get(server.url + "/languages")}
        assert languages == {"en": ["arpabet", "fr"], "arpabet": ["fr"]}


def test_a_limit_of_tokens_is_told(start_server: StartServer) -> None:
    problem = "the model reached its limit of tokens, so the end of a sentence may be missing"
    with start_server("--model", f"one={SECOND}", "--languages", "one=en:fr") as server:
        body = {"q": ["cat", ""], "source": "en", "target": "fr"}
        answer = post(server.url + "/translate", body)
        assert answer == {"translatedText": texts(SECOND, ["cat", ""]), "problem": [problem, None]}
        assert post(server.url + "/translate", {**body, "q": "cat"})["problem"] == problem
        found = post(server.url + "/v2/translate", {"text": ["cat", ""], "source_lang": "EN", "target_lang": "FR"})
        assert [each.get("problem") for each in found["translations"]] == [problem, None]
        form, media_type = http_door.form({"source": "en", "target": "fr"}, "a.txt", b"cat")
        headers = {"Content-Type": media_type}
        with urlopen(Request(server.url + "/v1/translate_file", form, headers)) as file:
            assert file.headers["X-Problem"] == problem
        assert get(Request(server.url + "/translate_file", form, headers))["problem"] == problem


def test_glossary(german_server: Server, pairs: list[tuple[str, str]]) -> None:
    text = pairs[0][0]
    body = {"q": text, "source": "en", "target": "de"}
    assert post(german_server.url + "/translate", body)["translatedText"] == pairs[0][1]
    own = post(german_server.url + "/translate", {**body, "glossary": {text.split()[0]: "Zelle"}})
    assert "Zelle" in own["translatedText"].split()
