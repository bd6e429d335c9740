"""Models without a tokenizer accept token ids, and no request ends the server."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from typing import Any

import pytest

from serving import DECODER, GOLDEN, StartServer, generate

IDS = [1, 2, 3]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/completions", {"model": "decoder", "prompt": IDS}),
        ("/v1/completions", {"model": "decoder", "prompt": IDS, "echo": True}),
        ("/v1/completions", {"model": "decoder", "prompt": IDS, "logprobs": 1}),
        ("/v1/completions", {"model": "decoder", "prompt": IDS, "stream": True}),
        ("/v1/completions", {"model": "decoder", "prompt": "abc"}),
        ("/v1/embeddings", {"model": "encoder", "input": IDS}),
        ("/v1/embeddings", {"model": "encoder", "input": "abc"}),
        ("/embed", {"inputs": IDS}),
        ("/embed", {"inputs": "abc"}),
        ("/similarity", {"inputs": {"source_sentence": "a", "sentences": ["b"]}}),
        ("/tokenize", {"model": "decoder", "inputs": "abc"}),
        ("/decode", {"model": "decoder", "ids": IDS}),
        ("/decode", {"model": "encoder", "ids": IDS}),
        ("/v1/generate", {"inputs": IDS, "stream": True, "alignment": True}),
        ("/v1/generate", {"inputs": "abc"}),
        ("/translate", {"q": "abc", "source": "en", "target": "fr"}),
        ("/detect", {"q": "abc"}),
    ],
)
def test_the_server_lives_on(start_server: StartServer, path: str, body: Any) -> None:
    encoder = GOLDEN / "bert/base/model"
    with start_server("--model", f"decoder={DECODER}", "--model", f"encoder={encoder}") as server:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        assert answer.read()
        assert answer.status in (200, 400, 404, 422)
        connection.request("POST", "/v1/generate", json.dumps({"inputs": IDS}), {"Content-Type": "application/json"})
        (result,) = json.load(connection.getresponse())["results"]
        connection.close()
    wanted = generate(DECODER, ["1 2 3"], token_ids=True)[0][0]
    assert result["hypotheses"][0]["token_ids"] == wanted["token_ids"]
