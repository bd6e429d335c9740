"""Documents, glossaries and elements of XML, by DeepL's own client."""

from __future__ import annotations

import io
import json
import socket
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import deepl
import pytest
import requests
from deepl.api_data import MultilingualGlossaryDictionaryEntries
from deepl.util import convert_tsv_to_dict

from conftest import KEY, Server, StartServer, docx

GLOSSARY_LANGUAGES = {"source_lang": "EN", "target_lang": "DE"}
Pairs = list[tuple[str, str]]


@pytest.fixture
def client(german_server: Server) -> Iterator[deepl.DeepLClient]:
    with closing(deepl.DeepLClient("any-key", server_url=german_server.url)) as client:
        yield client


@pytest.fixture(autouse=True)
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client asks every five seconds if a document is translated."""
    sleep = time.sleep
    monkeypatch.setattr("time.sleep", lambda seconds: sleep(min(seconds, 0.05)))


def term(pairs: Pairs) -> str:
    """Returns the first word of the first text."""
    return pairs[0][0].split()[0]


def test_a_document_of_word(client: deepl.DeepLClient, pairs: Pairs, tmp_path: Path) -> None:
    source, target = tmp_path / "letter.docx", tmp_path / "out.docx"
    sources = [pair[0] for pair in pairs[:3]]
    source.write_bytes(docx(*sources))
    status = client.translate_document_from_filepath(source, target, source_lang="EN", target_lang="DE")
    assert status.done
    assert status.billed_characters == sum(len(text) for text in sources)
    text = zipfile.ZipFile(target).read("word/document.xml").decode()
    for _, translation in pairs[:3]:
        assert f">{translation}<" in text


def test_formats_and_glossary(client: deepl.DeepLClient, pairs: Pairs) -> None:
    glossary = client.create_glossary("names", entries={term(pairs): "Zelle"}, **GLOSSARY_LANGUAGES)
    srt = "1\n00:00:01,000 --> 00:00:02,000\n{}\n"
    output = io.BytesIO()
    client.translate_document(srt.format(pairs[0][0]).encode(), output, filename="a.srt", glossary=glossary,
                              **GLOSSARY_LANGUAGES)  # fmt: skip
    assert b"Zelle" in output.getvalue()
    output = io.BytesIO()
    client.translate_document(srt.format(pairs[1][0]).encode(), output, filename="a.srt", output_format="SRT",
                              target_lang="DE", glossary_ids=[glossary], source_lang="EN")  # fmt: skip
    assert output.getvalue().decode() == srt.format(pairs[1][1])
    client.delete_glossary(glossary)


def test_a_result_is_fetched_once_with_its_key(client: deepl.DeepLClient, german_server: Server, pairs: Pairs) -> None:
    handle = client.translate_document_upload(pairs[0][0], filename="a.txt", target_lang="DE", source_lang="EN")
    wrong = [deepl.DocumentHandle(handle.document_id, "x"), deepl.DocumentHandle("x", handle.document_key)]
    for each in wrong:
        with pytest.raises(deepl.DeepLException, match="Not found"):
            client.translate_document_get_status(each)
    client.translate_document_wait_until_done(handle)
    for each in wrong:
        with pytest.raises(deepl.DeepLException, match="Not found"):
            client.translate_document_download(each)
    address = f"{german_server.url}/v2/document/{handle.document_id}"
    key = {"document_key": handle.document_key}
    for answer in (requests.get(address, params=key), requests.get(address, json=key), requests.post(address, data=key)):
        assert answer.json()["status"] == "done"
    assert requests.head(address + "/result", params=key).status_code == 200
    answer = requests.post(address + "/result", data=key)
    assert answer.text == pairs[0][1]
    assert answer.headers["content-disposition"].startswith('attachment; filename="a_de.txt"')
    with pytest.raises(deepl.DeepLException, match="Not found"):
        client.translate_document_download(handle)


@pytest.mark.parametrize(
    ("name", "content", "options", "named"),
    [
        ("a.pdf", b"%PDF", {}, "no known file format"),
        ("a", b"x", {}, "no known file format"),
        ("a.docx", b"PK\x03\x04", {}, "a.docx"),
        ("a.txt", b"\xff", {}, "UTF-8"),
        ("a.txt", b"x", {"output_format": "docx"}, "output_format"),
        ("a.txt", b"x", {"formality": "more"}, "formality"),
        ("a.txt", b"x", {"target_lang": "FR"}, "'fr'"),
        ("a.txt", b"x", {"glossary": "unknown", "source_lang": "EN"}, "glossary_id"),
        ("a.txt", b"", {}, "file"),
    ],
)
def test_refused_documents(
    client: deepl.DeepLClient, name: str, content: bytes, options: dict[str, Any], named: str
) -> None:
    with pytest.raises(deepl.DeepLException, match=named) as error:
        client.translate_document_upload(content, filename=name, **{"target_lang": "DE", **options})
    assert error.value.http_status_code == 400


def test_an_archive_that_unpacks_to_much_more(client: deepl.DeepLClient) -> None:
    bomb = docx("a " * (10 << 20))
    assert len(bomb) < 1 << 20
    with pytest.raises(deepl.DeepLException, match="bytes of content") as error:
        client.translate_document_upload(bomb, filename="a.docx", target_lang="DE")
    assert error.value.http_status_code == 400


def test_too_many_sentences(start_server: StartServer, german: Path) -> None:
    with start_server("--model", str(german), "--max-sentences", "4") as server:
        with closing(deepl.DeepLClient("any-key", server_url=server.url)) as client:
            text = "Bjkf! " * 5  # one paragraph
            handle = client.translate_document_upload(text, filename="a.txt", target_lang="DE")
            status = client.translate_document_wait_until_done(handle)
            assert not status.ok
            assert "--max-sentences" in str(status.error_message)
            with pytest.raises(deepl.DeepLException, match="max-sentences") as error:
                client.translate_document_upload("a\n\n" * 5, filename="a.txt", target_lang="DE")
            assert error.value.http_status_code == 413


def test_a_client_that_hangs_up(german_server: Server, client: deepl.DeepLClient, pairs: Pairs) -> None:
    body = (
        "--b\r\nContent-Disposition: form-data; name=target_lang\r\n\r\nDE\r\n--b\r\nContent-Disposition: form-data; "
        f"name=file; filename=a.txt\r\n\r\n{pairs[0][0]}\r\n--b--\r\n"
    )
    head = f"POST /v2/document HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: {len(body)}\r\n\r\n"
    for sent in (head, head + body[:90], head + body):
        with socket.create_connection(("127.0.0.1", german_server.port)) as connection:
            connection.sendall(sent.encode())
    assert client.translate_text(pairs[0][0], target_lang="DE", source_lang="EN").text == pairs[0][1]


def test_glossaries_of_version_2(client: deepl.DeepLClient, pairs: Pairs) -> None:
    assert [(each.source_lang, each.target_lang) for each in client.get_glossary_languages()] == [("en", "de")]
    entries = {term(pairs): "Zelle", "# a": "ä", 'qu"ote': "b, c"}
    glossary = client.create_glossary("names", entries=entries, source_lang="EN", target_lang="DE")
    assert (glossary.ready, glossary.name, glossary.entry_count) == (True, "names", 3)
    assert client.get_glossary_entries(glossary) == entries
    assert client.get_glossary(glossary.glossary_id).creation_time == glossary.creation_time
    assert [each.glossary_id for each in client.list_glossaries()] == [glossary.glossary_id]
    result = client.translate_text(pairs[0][0], glossary=glossary, **GLOSSARY_LANGUAGES)
    assert "Zelle" in result.text.split()
    other = client.create_glossary_from_csv("csv", csv_data=f"{term(pairs)},Haus,en,de\n", **GLOSSARY_LANGUAGES)
    result = client.translate_text(pairs[0][0], glossary_ids=[other, glossary], **GLOSSARY_LANGUAGES)
    assert "Haus" in result.text.split()
    assert "Zelle" not in result.text.split()
    for each in (glossary, other):
        client.delete_glossary(each)
    with pytest.raises(deepl.GlossaryNotFoundException):
        client.get_glossary(glossary.glossary_id)
    with pytest.raises(deepl.DeepLException, match="glossary_id"):
        client.translate_text("x", glossary=glossary, **GLOSSARY_LANGUAGES)
    assert client.list_glossaries() == []


def test_glossaries_of_version_3(client: deepl.DeepLClient, pairs: Pairs) -> None:
    dictionary = MultilingualGlossaryDictionaryEntries("en", "de", {term(pairs): "Zelle"})
    glossary = client.create_multilingual_glossary("names", [dictionary])
    number = glossary.glossary_id

    def entries() -> dict[str, str]:
        (found,) = client.get_multilingual_glossary_entries(number, "en", "de").dictionaries
        return convert_tsv_to_dict(str(found.entries))  # the client leaves them as they are

    assert entries() == {term(pairs): "Zelle"}
    result = client.translate_text(pairs[0][0], glossary=glossary, **GLOSSARY_LANGUAGES)
    assert "Zelle" in result.text.split()
    assert client.update_multilingual_glossary_name(number, "new").name == "new"
    more = MultilingualGlossaryDictionaryEntries("EN", "DE", {term(pairs): "Haus", "other": "anders"})
    assert client.update_multilingual_glossary_dictionary(number, more).dictionaries[0].entry_count == 2
    assert entries() == {term(pairs): "Haus", "other": "anders"}
    assert client.replace_multilingual_glossary_dictionary(number, dictionary).entry_count == 1
    assert entries() == {term(pairs): "Zelle"}
    assert [each.name for each in client.list_multilingual_glossaries()] == ["new"]
    client.delete_multilingual_glossary_dictionary(number, client.get_multilingual_glossary(number).dictionaries[0])
    assert client.get_multilingual_glossary(number).dictionaries == []
    with pytest.raises(deepl.GlossaryNotFoundException, match="no dictionary"):
        entries()
    client.delete_multilingual_glossary(number)
    with pytest.raises(deepl.GlossaryNotFoundException):
        client.get_multilingual_glossary(number)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("v2/glossaries", {"name": "", "source_lang": "en", "target_lang": "de", "entries": "a\tb"}, 400),
        ("v2/glossaries", {"name": "a", "source_lang": "en", "target_lang": "fr", "entries": "a\tb"}, 400),
        ("v2/glossaries", {"name": "a", "source_lang": "en", "target_lang": "de", "entries": "a\tb\na\tc"}, 400),
        ("v2/glossaries", {"name": "a", "source_lang": "en", "target_lang": "de", "entries": ""}, 400),
        ("v2/glossaries", {"name": "a", "source_lang": "en", "target_lang": "de", "entries": 5}, 400),
        ("v2/glossaries", {"name": "a", "source_lang": "en", "target_lang": "de", "entries": "a\tb",
                           "entries_format": "xls"}, 400),
        ("v3/glossaries", {"name": "a"}, 400),
        ("v3/glossaries", {"name": "a", "dictionaries": [5]}, 400),
        ("v3/glossaries", {"name": "a", "dictionaries": [
            {"source_lang": "en", "target_lang": "de", "entries": "a\tb"}] * 2}, 400),
    ],
)  # fmt: skip
def test_refused_glossaries(german_server: Server, path: str, body: Any, status: int) -> None:
    answer = requests.post(f"{german_server.url}/{path}", json=body)
    assert (answer.status_code, list(answer.json())) == (status, ["message"])


def test_glossaries_stay_and_belong_to_a_key(
    start_server: StartServer, german: Path, pairs: Pairs, tmp_path: Path
) -> None:
    keys, folder = tmp_path / "keys", tmp_path / "glossaries"
    keys.write_text(f"{KEY}\nanother-key\n", encoding="utf-8")
    arguments = ["--model", str(german), "--api-key-file", str(keys), "--glossaries", str(folder)]
    with start_server(*arguments) as server:
        with closing(deepl.DeepLClient(KEY, server_url=server.url)) as client:
            glossary = client.create_glossary("names", entries={term(pairs): "Zelle"}, **GLOSSARY_LANGUAGES)
    (file,) = folder.iterdir()
    assert KEY not in file.read_text(encoding="utf-8")
    (folder / "damaged.json").write_bytes(file.read_bytes()[:40])
    with start_server(*arguments) as server:
        with closing(deepl.DeepLClient("another-key", server_url=server.url)) as client:
            assert client.list_glossaries() == []
            with pytest.raises(deepl.GlossaryNotFoundException):
                client.delete_glossary(glossary)
        with closing(deepl.DeepLClient(KEY, server_url=server.url)) as client:
            assert client.get_glossary(glossary.glossary_id).name == "names"
            result = client.translate_text(pairs[0][0], glossary=glossary, **GLOSSARY_LANGUAGES)
            assert "Zelle" in result.text.split()
            client.delete_glossary(glossary)
    assert [each.name for each in folder.iterdir()] == ["damaged.json"]


def test_elements_of_xml(client: deepl.DeepLClient, pairs: Pairs) -> None:
    source, target = pairs[0]
    words, others = source.split(), target.split()

    def translated(text: str, **options: Any) -> str:
        result = client.translate_text(text, target_lang="DE", source_lang="EN", tag_handling="xml", **options)
        assert isinstance(result, deepl.TextResult)
        return result.text

    assert translated(source) == target
    marked = " ".join([f"<g id='1'>{words[0]}</g>", *words[1:]])
    assert translated(marked) == " ".join([f"<g id='1'>{others[0]}</g>", *others[1:]])
    # As Weblate sends a placeholder.
    marked = " ".join([words[0], '<x id="7">%s</x>', *words[1:]])
    assert '<x id="7">%s</x>' in translated(marked, ignore_tags=["x"])
    assert translated('<x id="7"/> &lt; 5', ignore_tags=["x"]) == '<x id="7"/> &lt; 5'
    for text in ("<g>a", "a</g>", "a</x><x>b", "<!DOCTYPE a>b", "a & b"):
        with pytest.raises(deepl.DeepLException, match="Bad request"):
            translated(text)


def test_context_is_accepted(client: deepl.DeepLClient, pairs: Pairs) -> None:
    result = client.translate_text(pairs[0][0], context="A context", source_lang="EN", target_lang="DE")
    assert isinstance(result, deepl.TextResult)
    assert result.text == pairs[0][1]


def test_a_quota_of_documents(start_server: StartServer, german: Path) -> None:
    """Without keys, all clients of one address share the quota."""
    with start_server("--model", str(german), "--max-requests", "4") as server:
        fields = {"target_lang": "DE", "source_lang": "EN"}
        statuses = set()
        for _ in range(8):
            files = {"file": ("a.txt", "bjkf hl. " * 2000)}
            answer = requests.post(server.url + "/v2/document", data=fields, files=files)
            statuses.add(answer.status_code)
            if answer.status_code == 429:
                assert "message" in json.loads(answer.text)
                assert int(answer.headers["retry-after"]) > 0
        assert statuses == {200, 429}
