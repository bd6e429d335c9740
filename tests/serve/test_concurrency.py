"""A request's answer does not depend on what else the server does."""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from typing import Any

import pytest

from serving import Server

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


@pytest.fixture
def bodies(words: list[str]) -> Callable[[int, int], list[str]]:
    """Returns a function that makes random requests. Most have one line; some are streams, which have one result."""
    lines = [word for word in words if set(word) <= set("abcdefghijklmnopqrstuvwx")]  # both models can read them

    def make(count: int, seed: int) -> list[str]:
        source = random.Random(seed)
        made = []
        for i in range(count):
            model, options = source.choice(["english-pronunciation", "speller"]), source.choice(OPTIONS)
            body = {"model": model, "parameters": options, "token_scores": source.random() < 0.5}
            body["inputs"] = source.choices(lines, k=3) if i % 10 == 0 else source.choice(lines)
            if i % 5 == 1 and "num_return_sequences" not in options:
                body["stream"] = True
            made.append(json.dumps(body))
        source.shuffle(made)
        return made

    return make


def results_of(answer: str) -> list[Any]:
    if not answer.startswith("data: "):
        return [result["hypotheses"] for result in json.loads(answer)["results"]]
    *events, last = [json.loads(line.removeprefix("data: ")) for line in answer.split("\n\n") if line]
    hypotheses = last["result"]["hypotheses"]
    assert "".join(each["text"] for each in [*events, last]) == hypotheses[0]["text"]
    assert [token for each in [*events, last] for token in each["token_ids"]] == hypotheses[0]["token_ids"]
    return [hypotheses]


def ask(server: Server, bodies: list[str], at_once: int) -> list[list[Any]]:
    """Returns the hypotheses of each request, on connections that are kept open."""
    results: list[list[Any]] = [[]] * len(bodies)
    order = iter(range(len(bodies)))

    def work() -> None:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=120)
        for i in order:
            connection.request("POST", "/v1/generate", bodies[i], {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read().decode()
            assert answer.status == 200, text
            results[i] = results_of(text)
        connection.close()

    with ThreadPoolExecutor(at_once) as threads:
        for future in [threads.submit(work) for _ in range(at_once)]:
            future.result()
    return results


def test_mixed_requests(server: Server, bodies: Callable[[int, int], list[str]]) -> None:
    mixed = bodies(2000, 1)
    assert ask(server, mixed, AT_ONCE) == ask(server, mixed, 1)


def test_clients_that_go_away(server: Server, bodies: Callable[[int, int], list[str]]) -> None:
    """Clients disconnect within a stream, before an answer, and within a request."""
    staying, leaving = bodies(300, 2), bodies(150, 3)
    alone = ask(server, staying, 1)

    def leave(number: int) -> None:
        body = leaving[number].encode()
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
        assert ask(server, staying, AT_ONCE) == alone
        for future in gone:
            future.result()
