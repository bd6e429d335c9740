"""Glossaries, by DeepL's own client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import deepl
import pytest
import requests
from deepl.api_data import MultilingualGlossaryDictionaryEntries
from deepl.util import convert_tsv_to_dict

from conftest import KEY, Server, StartServer

GLOSSARY_LANGUAGES = {"source_lang": "EN", "target_lang": "DE"}
Pairs = list[tuple[str, str]]


@pytest.fixture
def client(german_server: Server) -> Iterator[deepl.DeepLClient]:
    with closing(deepl.DeepLClient("any-key", server_url=german_server.url)) as client:
        yield client


def term(pairs: Pairs) -> str:
    """Returns the first word of the first text."""
    return pairs[0][0].split()[0]


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
