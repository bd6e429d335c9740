"""curl: requests that HTTP allows and that the other clients in these tests do not send."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from serving import EMBEDDER, KEY, ROOT, Server, StartServer, generate, like, model_arguments, pronounced

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")

CAT = {"q": "cat", "source": "en", "target": "arpabet"}


@dataclass
class Answer:
    status: int
    headers: dict[str, str]  # headers of the last answer; names in lower case
    head: str  # headers of all answers
    body: str
    connections: int  # number of connections that were opened

    @property
    def json(self) -> Any:
        assert self.headers["content-type"] == "application/json"
        return json.loads(self.body)


class Curl:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def all(self, *requests: list[str]) -> list[Answer]:
        """Sends requests one after the other and returns the answers. A request is an address and options of curl."""
        words: list[str] = []
        for i, request in enumerate(requests):
            words += ["--next"] if i > 0 else []
            words += ["-sS", "-m", "60", "-w", r"%{http_code} %{num_connects}\n"]
            words += ["-D", f"head-{i}", "-o", f"body-{i}", *request]
        run = subprocess.run(["curl", "-q", *words], cwd=self.folder, stdout=subprocess.PIPE, text=True, check=True)
        return [self.answer(i, line, requests[i]) for i, line in enumerate(run.stdout.splitlines())]

    def answer(self, i: int, line: str, request: list[str]) -> Answer:
        head = (self.folder / f"head-{i}").read_bytes().decode().removesuffix("\r\n\r\n")
        fields = [each.partition(":") for each in head.rpartition("\r\n\r\n")[2].split("\r\n")[1:]]
        body = self.folder / f"body-{i}"
        # With -I, curl writes the headers into the output.
        text = body.read_bytes().decode() if body.exists() and "-I" not in request else ""
        body.unlink(missing_ok=True)
        status, connections = map(int, line.split())
        return Answer(status, {name.lower(): value.strip() for name, _, value in fields}, head, text, connections)

    def __call__(self, *request: str) -> Answer:
        (answer,) = self.all([*request])
        return answer

    def file(self, name: str, content: str) -> str:
        (self.folder / name).write_bytes(content.encode())
        return f"@{name}"


@pytest.fixture
def curl(tmp_path: Path) -> Curl:
    return Curl(tmp_path)


def as_json(value: Any) -> list[str]:
    return ["-H", "Content-Type: application/json", "-d", json.dumps(value)]


# Options of curl that change how a body is sent.
WAYS = [
    [],
    ["--http1.0"],
    ["-H", "Expect: 100-continue"],
    ["-H", "Expect:"],
    ["-H", "Expect:", "-H", "Transfer-Encoding: chunked"],
]


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("spaces", [0, 3 << 19, 5 << 20, 20 << 20])
def test_bodies(server: Server, curl: Curl, way: list[str], spaces: int) -> None:
    body = curl.file("body", json.dumps(CAT) + " " * spaces)
    answer = curl(server.url + "/translate", *way, "-H", "Content-Type: application/json", "--data-binary", body)
    if spaces > 4 << 20:
        assert answer.status == 413
        assert "4194304 bytes" in answer.json["error"]
    else:
        assert answer.status == 200
        assert answer.json["translatedText"] == pronounced("cat")[0]
        assert "Expect: 100-continue" not in way or "HTTP/1.1 100 Continue" in answer.head


def test_json_that_is_called_a_form(server: Server, curl: Curl) -> None:
    """`curl -d` without a header sends JSON with the type of a form."""
    answer = curl(server.url + "/v1/generate", "-d", '{"inputs": "cat"}')
    assert answer.json["results"][0]["hypotheses"][0]["text"] == pronounced("cat")[0]


def test_form(server: Server, curl: Curl) -> None:
    cat, dog = pronounced("cat", "dog")
    languages = ["-d", "source=en&target=arpabet"]
    answer = curl(server.url + "/translate", "--data-urlencode", "q=cat\r\n\r\ndog", *languages)
    assert answer.json["translatedText"] == f"{cat}\n\n{dog}"
    answer = curl(server.url + "/translate", "-d", "q=cat", "-d", "q=dog", *languages)
    assert answer.json["translatedText"] == [cat, dog]
    answer = curl(server.url + "/v2/translate", "-d", "text=cat&text=dog&target_lang=ARPABET")
    assert [each["text"] for each in answer.json["translations"]] == [cat, dog]


@pytest.mark.parametrize(
    ("name", "content", "wanted", "media_type"),
    [
        ("words.txt", "cat\n\n  dog\n", "{cat}\n\n  {dog}\n", "text/plain"),
        ("Words.HTML", "<p id=a>cat</p>\n<!-- dog --><p>dog", "<p id=a>{cat}</p>\n<!-- dog --><p>{dog}", "text/html"),
    ],
)
def test_files(server: Server, curl: Curl, name: str, content: str, wanted: str, media_type: str) -> None:
    cat, dog = pronounced("cat", "dog")
    fields = ["-F", f"file={curl.file(name, content)}", "-F", "source=en", "-F", "target=arpabet"]
    behind_proxy = curl(server.url + "/translate_file", *fields, "-H", "X-Forwarded-Proto: https")
    assert behind_proxy.json["translatedFileUrl"].startswith(f"https{server.url[4:]}/download_file/")
    address = curl(server.url + "/translate_file", *fields).json["translatedFileUrl"]
    assert address.startswith(server.url + "/download_file/")
    head = curl("-I", address)
    answer = curl(address)
    assert answer.status == 200
    assert answer.body == wanted.format(cat=cat, dog=dog)
    assert answer.headers["content-type"].startswith(media_type)
    new_name = name.replace(".", "_arpabet.")
    assert address.endswith(f".{new_name}")
    assert answer.headers["content-disposition"] == f"attachment; filename=\"{new_name}\"; filename*=UTF-8''{new_name}"
    assert head.headers["content-length"] == answer.headers["content-length"]
    assert curl(address).status == 404  # a file can be fetched once


def test_a_file_at_once(server: Server, curl: Curl) -> None:
    upload = curl.file("a.srt", "1\n00:00:01,000 --> 00:00:02,000\ncat\n")
    fields = [rf'file={upload};filename="a/ü b.srt"', "source=auto", "target=arpabet", 'glossary={"cat": "KAT"}']
    answer = curl(server.url + "/v1/translate_file", *(word for field in fields for word in ("-F", field)))
    assert answer.body == "1\n00:00:01,000 --> 00:00:02,000\nKAT\n"
    assert answer.headers["content-disposition"].endswith("filename*=UTF-8''%C3%BC%20b_arpabet.srt")
    assert answer.headers["content-type"].startswith("application/x-subrip")


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        (["source=en", "target=arpabet"], "file"),
        (["file=cat;filename=a.txt", "target=arpabet"], "source"),
        (["file=cat;filename=a.txt", "source=en"], "target"),
        (["file=cat;filename=a.txt", "source=en", "target=xx"], "'xx'"),
        (["file=cat;filename=a.pdf", "source=en", "target=arpabet"], "format"),
        (["file=cat;filename=a.docx", "source=en", "target=arpabet"], "a.docx"),
        (["file=cat;filename=a.xlf", "source=en", "target=arpabet"], "line 1"),
        (["file=cat;filename=a.txt", "source=en", "target=arpabet", "glossary=unknown"], "glossary"),
        (["file=cat;filename=a.txt", "source=en", "target=arpabet", 'glossary={"a": 1}'], "'a'"),
    ],
)
def test_refused_files(server: Server, curl: Curl, fields: list[str], named: str) -> None:
    answer = curl(server.url + "/translate_file", *(word for field in fields for word in ("-F", field)))
    assert answer.status == 400
    assert named in answer.json["error"]


@pytest.mark.parametrize("content", ["a\n\n" * 17_000, "Bjkf! " * 17_000])  # segments; sentences of one segment
def test_too_many_sentences(server: Server, curl: Curl, content: str) -> None:
    fields = [f"file={curl.file('a.txt', content)}", "source=en", "target=arpabet"]
    answer = curl(server.url + "/v1/translate_file", *(word for field in fields for word in ("-F", field)))
    assert answer.status == 413
    assert "16384 sentences" in answer.json["error"]


def test_a_file_with_a_key_and_its_download_without(guarded: Server, curl: Curl) -> None:
    """As with LibreTranslate, a client that knows the address of the file needs no key."""
    fields = ["-F", "file=cat;filename=a.txt", "-F", "source=en", "-F", "target=arpabet"]
    assert curl(guarded.url + "/translate_file", *fields).status == 403
    answer = curl(guarded.url + "/translate_file", *fields, "-F", f"api_key={KEY}")
    answer = curl(answer.json["translatedFileUrl"])
    assert answer.status == 200
    assert answer.body == pronounced("cat")[0]


@pytest.mark.parametrize("path", ["/", "/languages", "/v1/models", "/health", "/ready", "/info"])
def test_head(server: Server, curl: Curl, path: str) -> None:
    """The answer must have no body, or the client would read the body as the next answer."""
    head, get = curl.all(["-I", server.url + path], [server.url + path])
    assert (head.status, head.connections) == (get.status, get.connections + 1) == (200, 1)
    assert head.headers["content-length"] == get.headers["content-length"] == str(len(get.body.encode()))
    assert head.headers["content-type"] == get.headers["content-type"]


def test_a_connection_is_kept_also_after_a_refusal(server: Server, curl: Curl) -> None:
    good, wrong = ([server.url + "/translate", *as_json(CAT | more)] for more in ({}, {"target": "xx"}))
    answers = curl.all(good, wrong, wrong, good)
    assert [(each.status, each.connections) for each in answers] == [(200, 1), (400, 0), (400, 0), (200, 0)]
    assert [each.json["translatedText"] for each in (answers[0], answers[-1])] == pronounced("cat") * 2


def test_unknown_paths(server: Server, curl: Curl) -> None:
    for path in ("/nothing", "/translate/", "/v1", "/download_file/nothing.txt"):
        answer = curl(server.url + path)
        assert answer.status == 404, path
        assert answer.json["error"]


def test_an_unknown_path_names_the_paths_of_the_documentation(server: Server, curl: Curl) -> None:
    paths = curl(server.url + "/nothing").json["error"].partition("expected one of ")[2].split(", ")
    assert len(paths) > 30
    documentation = (ROOT / "docs/serve.md").read_text(encoding="utf-8")
    assert [path for path in paths if f"`{path}`" not in documentation] == []


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/translate", {"POST"}),
        ("HEAD", "/v1/generate", {"POST"}),
        ("POST", "/languages", {"GET"}),
        ("DELETE", "/v1/models", {"GET"}),
        ("PUT", "/v2/languages", {"GET", "POST"}),
        ("DELETE", "/", {"GET"}),
        ("PATCH", "/health", {"GET"}),
    ],
)
def test_other_methods(server: Server, curl: Curl, method: str, path: str, allowed: set[str]) -> None:
    answer = curl(server.url + path, *(["-I"] if method == "HEAD" else ["-X", method]))
    assert answer.status == 405
    assert allowed <= set(answer.headers["allow"].replace(" ", "").split(","))


def streamed(answer: Answer) -> str:
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [json.loads(line.removeprefix("data: ")) for line in answer.body.split("\n") if line.startswith("data: ")]
    assert all("result" not in each for each in events[:-1])
    text = "".join(each["text"] for each in events)
    assert events[-1]["result"]["hypotheses"][0]["text"] == text
    return text


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_stream(server: Server, curl: Curl, version: str) -> None:
    body = as_json({"inputs": "pronunciation", "stream": True})
    answer = curl(f"--http{version}", "-N", server.url + "/v1/generate", *body)
    assert ("transfer-encoding" in answer.headers) == (version == "1.1")
    assert streamed(answer) == pronounced("pronunciation")[0]


def test_native_options(server: Server, curl: Curl, speller: Path) -> None:
    body = {"model": "speller", "inputs": ["abc", [1, 2, 3]], "token_scores": True,
            "parameters": {"num_beams": 3, "num_return_sequences": 2, "max_new_tokens": 7}}  # fmt: skip
    answer = curl(server.url + "/v1/generate", *as_json(body))
    wanted = generate(speller, ["abc", "bcd"], num_beams=3, num_return_sequences=2, max_new_tokens=7, token_scores=True)
    results = answer.json["results"]
    assert [like(row, result["hypotheses"]) for row, result in zip(wanted, results, strict=True)] == wanted
    assert [each["source_tokens"] for each in results] == [3, 3]


def test_tokens_of_text_embeddings_inference(server: Server, curl: Curl) -> None:
    (tokens,) = curl(server.url + "/tokenize", *as_json({"model": "embedder", "inputs": ["the cat"]})).json
    vocabulary = (EMBEDDER / "vocab.txt").read_text(encoding="utf-8").split("\n")
    assert [vocabulary[each["id"]] for each in tokens] == [each["text"] for each in tokens]
    assert [each["special"] for each in tokens] == [True, *[False] * (len(tokens) - 2), True]
    ids = [each["id"] for each in tokens]
    assert curl(server.url + "/decode", *as_json({"model": "embedder", "ids": ids})).json == ["the cat"]


def test_addresses_that_need_no_key(guarded: Server, curl: Curl) -> None:
    for path in ("/health", "/ready", "/metrics", "/"):
        answer = curl(guarded.url + path)
        assert answer.status == 200
        assert KEY not in answer.body


def test_request_ids(server: Server, curl: Curl) -> None:
    address = server.url + "/languages"
    assert curl(address, "-H", "X-Request-ID: a.request-of_1").headers["x-request-id"] == "a.request-of_1"
    made = {curl(address, *header).headers["x-request-id"] for header in ([], ["-H", "X-Request-ID: a b"])}
    assert len(made) == 2
    assert "a b" not in made


def test_unix_socket(start_server: StartServer, curl: Curl, models: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with start_server("--unix", str(path), "--host", "127.0.0.1", *model_arguments(models)):
        answer = curl("--unix-socket", str(path), "http://any-host/translate", *as_json(CAT))
        assert answer.json["translatedText"] == pronounced("cat")[0]
    assert not path.exists()
