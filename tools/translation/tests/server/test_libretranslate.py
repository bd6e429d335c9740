"""libretranslatepy, and requests of other clients of LibreTranslate."""

from __future__ import annotations

import json
import re
import urllib.error
from collections.abc import Callable
from typing import Any
from urllib.request import Request, urlopen

import pytest
from libretranslatepy import LibreTranslateAPI  # type: ignore[import-untyped]

from serving import GOLDEN, KEY, PRONUNCIATION, Server, StartServer, generate, pronounced, texts


@pytest.fixture
def client(server: Server) -> LibreTranslateAPI:
    return LibreTranslateAPI(server.url)


def message_of(error: pytest.ExceptionInfo[urllib.error.HTTPError]) -> str:
    message = json.loads(error.value.read())["error"]
    assert isinstance(message, str)
    return message


def post(url: str, body: Any, **headers: str) -> Any:
    request = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json", **headers})
    with urlopen(request) as answer:
        return json.load(answer)


@pytest.mark.parametrize("text", ["cat", "pronunciation", "a & b=c%41+d"])
def test_translate(client: LibreTranslateAPI, text: str) -> None:
    assert client.translate(text, "en", "arpabet") == pronounced(text)[0]


def test_sentences_and_white_space_stay(client: LibreTranslateAPI) -> None:
    cat, dog, bird = pronounced("A cat.", "A dog.", "bird")
    assert client.translate("  A cat. A dog.\n\n\tbird \n", "en", "arpabet") == f"  {cat} {dog}\n\n\t{bird} \n"


def test_auto(client: LibreTranslateAPI) -> None:
    assert client.translate("cat", "auto", "arpabet") == pronounced("cat")[0]


def test_codes_in_other_spellings(client: LibreTranslateAPI) -> None:
    assert client.translate("cat", "EN-us", "Arpabet") == pronounced("cat")[0]


def test_languages(client: LibreTranslateAPI) -> None:
    assert client.languages() == [{"code": "en", "name": "English", "targets": ["arpabet"]}]


def test_detect(client: LibreTranslateAPI) -> None:
    best = client.detect("This is certainly a sentence that somebody has written in English.")[0]
    assert best["language"] == "en"
    assert 50 < best["confidence"] <= 100


def test_key_in_the_body(guarded: Server) -> None:
    client = LibreTranslateAPI(guarded.url, api_key=KEY)
    assert client.translate("cat", "en", "arpabet") == pronounced("cat")[0]
    assert client.detect("cat")[0]["language"] == "en"


def test_languages_need_no_key(guarded: Server) -> None:
    """LibreTranslate's /languages needs no key. Its client sends the key in the body of a GET request."""
    for key in (KEY, "wrong", None):
        assert LibreTranslateAPI(guarded.url, api_key=key).languages()[0]["code"] == "en"
    with urlopen(guarded.url + "/frontend/settings") as answer:
        assert json.load(answer)["keyRequired"] is True


@pytest.mark.parametrize("key", ["wrong", None, ""])
def test_wrong_key(guarded: Server, key: str | None) -> None:
    client = LibreTranslateAPI(guarded.url, api_key=key)
    calls: list[Callable[[], Any]] = [lambda: client.translate("cat", "en", "arpabet"), lambda: client.detect("cat")]
    for call in calls:
        with pytest.raises(urllib.error.HTTPError) as error:
            call()
        assert error.value.code == 403
        assert "key" in message_of(error)


@pytest.mark.parametrize(
    ("source", "target", "named"),
    [
        ("en", "xx", "'xx'"),
        ("auto", "xx", "'xx'"),
        ("xx", "arpabet", "'xx'"),
        ("en", "en", "'en'"),
        ("", "arpabet", "source"),
        ("en", "", "target"),
    ],
)
def test_unknown_languages(client: LibreTranslateAPI, source: str, target: str, named: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as error:
        client.translate("cat", source, target)
    assert error.value.code == 400
    assert named in message_of(error)


def test_empty_text(client: LibreTranslateAPI) -> None:
    with pytest.raises(urllib.error.HTTPError) as error:
        client.translate("", "en", "arpabet")
    assert error.value.code == 400
    assert "q parameter" in message_of(error)


@pytest.mark.parametrize("mebibytes", [5, 20])
def test_too_long_text(client: LibreTranslateAPI, mebibytes: int) -> None:
    with pytest.raises(urllib.error.HTTPError) as error:
        client.translate("cat " * (mebibytes << 18), "en", "arpabet")
    assert error.value.code == 413
    assert "4194304 bytes" in message_of(error)


def test_too_many_texts(server: Server) -> None:
    with pytest.raises(urllib.error.HTTPError) as error:
        post(server.url + "/translate", {"q": ["cat"] * 1025, "source": "en", "target": "arpabet"})
    assert error.value.code in (400, 413)
    assert "1024" in message_of(error)


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
    assert re.sub("</?b[^>]*>", "", text) == "<p>" + pronounced("cat dog")[0] + "</p>"
    assert re.fullmatch(r"<p>K AE\d T <b title='dog'>D AO\d G</b></p>", text)


@pytest.mark.parametrize(
    ("html", "wanted"),
    [
        ("photo<b>graphy</b>", "F AH0 T AA1 <b>G R AH0 F IY0</b>"),
        ("<p>photo<a href='x'>gra<img src=i></a>phy</p>", "<p>F AH0 T AA1 <a href='x'>G R AH0<img src=i></a> F IY0</p>"),
        ("<i>cat</i>\n<i>d</i>og", "<i>K AE1 T</i>\n<i>D</i> AO1 G"),
        ("<b>cat\ndog</b>", "<b>K AE1 T\nD AO1 G</b>"),
        ("<b></b>cat<br><b>dog", "<b></b>K AE1 T<br><b>D AO1 G"),
        ("<p><b>cat</p>dog</b>", "<p><b>K AE1 T</p>D AO1 G</b>"),
        ("&lt;<b>&amp;</b>&nbsp;", None),
        ("<b>x</b>" * 100, None),
        ("<b>a</b> " * 40, "<b>EY1</b> " * 40),
        ("\u00e9<b>".encode()[:1].decode("latin-1") + "x", None),
    ],
)
def test_inline_tags_stand_by_their_words(server: Server, html: str, wanted: str | None) -> None:
    body = {"q": html, "source": "en", "target": "arpabet", "format": "html", "alternatives": 2}
    answer = post(server.url + "/translate", body)
    if wanted is not None:
        assert answer["translatedText"] == wanted
    for text in [answer["translatedText"], *answer["alternatives"]]:
        assert sorted(re.findall("<[^>]*>", text)) == sorted(re.findall("<[^>]*>", html))


def test_a_pair_that_no_model_has_goes_through_a_third_language(start_server: StartServer) -> None:
    second = GOLDEN / "marian/text/model"
    models = ["--model", f"first={PRONUNCIATION}", "--model", f"second={second}", "--languages", "second=arpabet:fr"]
    with start_server(*models) as server:
        body = {"q": ["A cat.", "dog"], "source": "en", "target": "fr"}
        answer = post(server.url + "/translate", body)
        assert answer["translatedText"] == texts(second, pronounced("A cat.", "dog"))
        assert answer["route"] == [["en", "arpabet", "fr"]] * 2
        assert "route" not in post(server.url + "/translate", {**body, "target": "arpabet"})
        with pytest.raises(urllib.error.HTTPError) as error:
            post(server.url + "/translate", {**body, "via": "never"})
        assert message_of(error) == "no single model translates from 'en' to 'fr'"
        with urlopen(server.url + "/v1/routes") as routes:
            found = {(each["source"], each["target"]): each for each in json.load(routes)["routes"]}
        assert set(found) == {("en", "arpabet"), ("en", "fr"), ("arpabet", "fr")}
        assert found["en", "fr"]["route"] == ["en", "arpabet", "fr"]
        assert found["en", "fr"]["models"] == ["first", "second"]
        with urlopen(server.url + "/languages") as languages:
            assert {each["code"]: each["targets"] for each in json.load(languages)} == {
                "en": ["arpabet", "fr"],
                "arpabet": ["fr"],
            }


def test_a_long_text_is_translated_in_parts(german_server: Server, pairs: list[tuple[str, str]]) -> None:
    source, target = (" ".join(each[side].rstrip(".") for each in pairs * 12) for side in (0, 1))
    for address, body in (("/translate", {"q": source, "source": "en", "target": "de"}),
                          ("/v2/translate", {"text": [source], "target_lang": "DE"})):  # fmt: skip
        answer = post(german_server.url + address, body)
        each = answer.get("translations", [answer])[0]
        assert (each.get("translatedText") or each["text"]) == target and "problem" not in each


def test_a_limit_of_tokens_is_told(start_server: StartServer) -> None:
    model = GOLDEN / "marian/text/model"  # goes on to its limit
    problem = "the model reached its limit of tokens, so the end of a sentence may be missing"
    with start_server("--model", f"one={model}", "--languages", "one=en:fr") as server:
        body = {"q": ["cat", ""], "source": "en", "target": "fr"}
        answer = post(server.url + "/translate", body)
        assert answer == {"translatedText": texts(model, ["cat", ""]), "problem": [problem, None]}
        assert post(server.url + "/translate", {**body, "q": "cat"})["problem"] == problem
        found = post(server.url + "/v2/translate", {"text": ["cat", ""], "source_lang": "EN", "target_lang": "FR"})
        assert [each.get("problem") for each in found["translations"]] == [problem, None]
        form = "".join(
            f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'
            for name, text in (("source", "en"), ("target", "fr"), ('file"; filename="a.txt', "cat"))
        )
        headers = {"Content-Type": "multipart/form-data; boundary=b"}
        with urlopen(Request(server.url + "/v1/translate_file", f"{form}--b--\r\n".encode(), headers)) as file:
            assert file.headers["X-Problem"] == problem
        with urlopen(Request(server.url + "/translate_file", f"{form}--b--\r\n".encode(), headers)) as file:
            assert json.load(file)["problem"] == problem


def test_glossary(german_server: Server, pairs: list[tuple[str, str]]) -> None:
    text = pairs[0][0]
    body = {"q": text, "source": "en", "target": "de"}
    assert post(german_server.url + "/translate", body)["translatedText"] == pairs[0][1]
    own = post(german_server.url + "/translate", {**body, "glossary": {text.split()[0]: "Zelle"}})
    assert "Zelle" in own["translatedText"].split()
    with pytest.raises(urllib.error.HTTPError) as error:
        post(german_server.url + "/translate", {**body, "glossary": "an-id"})
    assert error.value.code == 400
    assert "'glossary' is no JSON object" in message_of(error)


@pytest.mark.parametrize(
    ("field", "value"),
    [("format", "xml"), ("alternatives", -1), ("alternatives", 9), ("alternatives", "many"), ("q", 5), ("q", None)],
)
def test_bad_parameters(server: Server, field: str, value: Any) -> None:
    body = {"q": "cat", "source": "en", "target": "arpabet", field: value}
    with pytest.raises(urllib.error.HTTPError) as error:
        post(server.url + "/translate", body)
    assert error.value.code == 400
    assert field in message_of(error) or str(value) in message_of(error)
