"""SIGTERM ends a server at once if no request runs. Time limits here are longer than the fixture waits for the end."""

from __future__ import annotations

from http.client import HTTPConnection

import pytest

from serving import EMBEDDER, LIMITED, running

LONG = [f"{name}_time=3600" for name in ("header", "body", "idle", "drain")]


@pytest.mark.parametrize("closes", [False, True])
def test_connections_that_are_kept(closes: bool) -> None:
    """The signal comes right after the client has read its answer, or right after it has disconnected."""
    for _ in range(10):
        with running(f"model=embedder={EMBEDDER}", *LONG, program=LIMITED) as server:
            connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
            connection.request("POST", "/embed", '{"inputs": "a"}')
            assert connection.getresponse().read()
            if closes:
                connection.close()
        connection.close()
