"""A request's answer does not depend on what else the server does."""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from serving import PRONUNCIATION, Server, generate, like

AT_ONCE = 64
# Options that both models accept.
OPTIONS: list[dict[str, Any]] = [
    {},
    {"max_new_tokens": 3},
    {"min_new_tokens": 9, "max_new_tokens": 12},
    {"num_beams": 2},
    {"num_beams": 4, "num_return_sequences": 3, "length_penalty": 0.5},
    {"num_beams": 3, "early_stopping": True, "no_repeat_ngram_size": 2},
    {"num_beams": 2, "max_new_tokens": 5, "repetition_penalty": 1.5},
    {"do_sample": True, "seed": 1},
    {"do_sample": True, "seed": 2, "temperature": 2.0, "num_return_sequences": 2},
    {"do_sample": True, "seed": 3, "top_k": 5, "top_p": 0.75, "max_new_tokens": 6},
    {"do_sample": True, "seed": 4, "num_beams": 2},
]


@dataclass(frozen=True)
class Case:
    """A request. The command computes all requests of a group in one run."""

    group: int
    lines: tuple[str, ...]
    streams: bool = False


def make_cases(count: int, words: list[str], seed: int) -> list[Case]:
    """Makes random requests. Most have one line; some are streams, which have one result."""
    source = random.Random(seed)
    cases = []
    for i in range(count):
        group = source.randrange(4 * len(OPTIONS))
        lines = tuple(source.choices(words, k=3 if i % 10 == 0 else 1))
        cases.append(Case(group, lines, i % 5 == 1 and "num_return_sequences" not in OPTIONS[group // 4]))
    source.shuffle(cases)
    return cases


def group_of(number: int) -> tuple[str, dict[str, Any], bool]:
    """Returns the model of a group, its options, and whether it requests scores of tokens."""
    options = OPTIONS[number // 4]
    return ("english-pronunciation", "speller")[number % 2], options, number % 4 < 2


def body_of(case: Case) -> str:
    model, options, has_scores = group_of(case.group)
    inputs = case.lines[0] if len(case.lines) == 1 else case.lines
    body = {"model": model, "inputs": inputs, "parameters": options, "token_scores": has_scores}
    return json.dumps(body | {"stream": True} if case.streams else body)


def results_of(case: Case, answer: str) -> list[Any]:
    if not case.streams:
        return [result["hypotheses"] for result in json.loads(answer)["results"]]
    *events, last = [json.loads(line.removeprefix("data: ")) for line in answer.split("\n\n") if line]
    hypotheses = last["result"]["hypotheses"]
    assert "".join(each["text"] for each in [*events, last]) == hypotheses[0]["text"]
    assert [token for each in [*events, last] for token in each["token_ids"]] == hypotheses[0]["token_ids"]
    return [hypotheses]


def by_command(cases: list[Case], folders: dict[str, Path]) -> list[list[Any]]:
    """Returns the hypotheses of each line of each case, by the command."""
    wanted: dict[Case, list[Any]] = {}
    for number in {case.group for case in cases}:
        group = [case for case in dict.fromkeys(cases) if case.group == number]
        model, options, has_scores = group_of(number)
        if has_scores:
            options = options | {"token_scores": True}
        if "early_stopping" in options:
            options = options | {"early_stopping": "true"}
        results = iter(generate(folders[model], [line for case in group for line in case.lines], **options))
        for case in group:
            wanted[case] = [next(results) for _ in case.lines]
    return [wanted[case] for case in cases]


def ask(server: Server, cases: Iterable[Case]) -> list[list[Any]]:
    """Returns the same by the server. Sends AT_ONCE requests at a time, on connections that are kept open."""
    cases = list(cases)
    results: list[list[Any]] = [[]] * len(cases)
    order = iter(range(len(cases)))

    def work() -> None:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=120)
        for i in order:
            connection.request("POST", "/v1/generate", body_of(cases[i]), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read().decode()
            assert answer.status == 200, text
            results[i] = results_of(cases[i], text)
        connection.close()

    with ThreadPoolExecutor(AT_ONCE) as threads:
        for future in [threads.submit(work) for _ in range(AT_ONCE)]:
            future.result()
    return results


def check(cases: list[Case], got: list[list[Any]], wanted: list[list[Any]]) -> None:
    for case, results, rows in zip(cases, got, wanted, strict=True):
        assert {"text", "token_ids", "score"} <= rows[0][0].keys()
        common = [like(row, result) for row, result in zip(rows, results, strict=True)]
        assert common == rows, (group_of(case.group), case.lines)


@pytest.fixture
def lines(words: list[str]) -> list[str]:
    """Lines that both models can read."""
    return [word for word in words if set(word) <= set("abcdefghijklmnopqrstuvwx")]


@pytest.fixture
def folders(speller: Path) -> dict[str, Path]:
    return {"english-pronunciation": PRONUNCIATION, "speller": speller}


def test_mixed_requests(server: Server, lines: list[str], folders: dict[str, Path]) -> None:
    cases = make_cases(2000, lines, seed=1)
    check(cases, ask(server, cases), by_command(cases, folders))


def test_clients_that_go_away(server: Server, lines: list[str], folders: dict[str, Path]) -> None:
    """Clients disconnect within a stream, before an answer, and within a request."""
    cases = make_cases(300, lines, seed=2)
    leaving = make_cases(150, lines, seed=3)

    def leave(number: int) -> None:
        body = body_of(leaving[number]).encode()
        if number % 3 == 0:
            body = json.dumps({"inputs": "pronunciation", "stream": True}).encode()
        head = f"POST /v1/generate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        with socket.create_connection(("127.0.0.1", server.port), timeout=120) as connection:
            connection.sendall(head + (body[:-1] if number % 3 == 1 else body))
            if number % 3 == 0:
                received = b""
                while b"data: " not in received:
                    received += connection.recv(4096)

    with ThreadPoolExecutor(8) as threads:
        gone = [threads.submit(leave, number) for number in range(len(leaving))]
        got = ask(server, cases)
        for future in gone:
            future.result()
    check(cases, got, by_command(cases, folders))
