"""Connections over TCP: clients have addresses, and a client that stops sending may still wait for its answer."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse

import pytest

from serving import PRONUNCIATION, Server, StartServer

PARAMETERS = {"num_beams": 4, "min_new_tokens": 120, "max_new_tokens": 120}
LONG = json.dumps({"inputs": ["photography"] * 100, "parameters": PARAMETERS}).encode()


def post(body: bytes, version: str = "1.1") -> bytes:
    return f"POST /v1/generate HTTP/{version}\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def metric(server: Server, name: str) -> float:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return float(found[1]) if found else 0.0


def running(server: Server) -> float:
    """Returns the number of running requests, without the one that asks for it."""
    return metric(server, "encdec_requests_running") - 1


@pytest.fixture
def pronouncer(start_server: StartServer) -> Iterator[Server]:
    with start_server("--model", str(PRONUNCIATION), "--drain-timeout", "1") as server:
        yield server


def test_clients_that_only_stop_sending(pronouncer: Server) -> None:
    """The server sends 100 Continue to find out if they are still connected."""
    with socket.create_connection(("127.0.0.1", pronouncer.port), timeout=120) as connection:
        connection.sendall(post(LONG) + post(b'{"inputs": "cat"}'))
        connection.shutdown(socket.SHUT_WR)
        received = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert received.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")
    assert received.count(b"HTTP/1.1 200 OK") == 2
    with socket.create_connection(("127.0.0.1", pronouncer.port), timeout=120) as connection:
        connection.sendall(post(LONG))
        connection.shutdown(socket.SHUT_WR)
        response = HTTPResponse(connection)
        response.begin()
        assert len(json.loads(response.read())["results"]) == 100


@pytest.mark.parametrize("version", ["1.1", "1.0"])
def test_clients_that_leave(pronouncer: Server, version: str) -> None:
    """Clients disconnect after sending requests ahead, even more than the buffers of the system hold."""
    request = post(LONG, version)
    for ahead in (b"", b"x" * 40_000, request * 60):
        with socket.create_connection(("127.0.0.1", pronouncer.port), timeout=120) as connection:
            connection.setblocking(False)
            connection.send(request)
            while running(pronouncer) < 1:
                pass
            if ahead:
                connection.send(ahead)
        while running(pronouncer) > 0:
            pass
    tokens = metric(pronouncer, 'encdec_generated_tokens_total{model="english-pronunciation"}')
    assert tokens < 3 * 100 * 120
    assert metric(pronouncer, 'encdec_requests_abandoned_total{route="/v1/generate"}') == 3


def test_addresses_have_shares(start_server: StartServer) -> None:
    """One address may have three of four requests."""
    with start_server("--model", str(PRONUNCIATION), "--max-requests", "4", "--drain-timeout", "1") as server:
        connections = [socket.create_connection(("127.0.0.1", server.port), timeout=120) for _ in range(3)]
        for connection in connections:
            connection.sendall(post(LONG))
        other = HTTPConnection("127.0.0.1", server.port, timeout=60, source_address=("127.0.0.2", 0))
        count = 0.0
        while count < 4:
            other.request("GET", "/metrics")
            response = other.getresponse()
            text = response.read().decode()
            assert response.status == 200, text
            count = float(text.rpartition("\nencdec_requests_running ")[2].split()[0])
        same = HTTPConnection("127.0.0.1", server.port, timeout=60)
        same.request("GET", "/languages")
        response = same.getresponse()
        assert (response.status, b"this client has 3 requests" in response.read()) == (429, True)
        for each in (*connections, other, same):
            each.close()


def test_crowds_that_leave(start_server: StartServer) -> None:
    """Each client has sent three requests, two of them ahead."""
    body = LONG + b" " * (54_000 - len(LONG))
    with start_server("--model", str(PRONUNCIATION), "--max-requests", "100") as server:
        for _ in range(70):
            with socket.create_connection(("127.0.0.1", server.port), timeout=120) as connection:
                connection.setblocking(False)
                connection.send(post(body) * 3)
        route = '{route="/v1/generate"}'
        while metric(server, f"encdec_requests_abandoned_total{route}") < 70:
            pass
        assert running(server) == 0
        assert metric(server, f"encdec_requests_total{route[:-1]},status=\"200\"}}") == 0
