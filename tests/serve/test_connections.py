"""Connections over TCP: clients have addresses."""

from __future__ import annotations

import json
import re
import socket
from http.client import HTTPConnection

from serving import PRONUNCIATION, Server, StartServer

PARAMETERS = {"num_beams": 4, "min_new_tokens": 120, "max_new_tokens": 120}
LONG = json.dumps({"inputs": ["photography"] * 100, "parameters": PARAMETERS}).encode()


def post(body: bytes) -> bytes:
    return f"POST /v1/generate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def metric(server: Server, name: str) -> float:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return float(found[1]) if found else 0.0


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
        assert metric(server, "encdec_requests_running") == 1  # the one that asks for it
        assert metric(server, f"encdec_requests_total{route[:-1]},status=\"200\"}}") == 0
