"""Connections over TCP: clients have addresses."""

from __future__ import annotations

import json
import socket
from http.client import HTTPConnection

from serving import PRONUNCIATION, StartServer

PARAMETERS = {"num_beams": 4, "min_new_tokens": 120, "max_new_tokens": 120}
LONG = json.dumps({"inputs": ["photography"] * 100, "parameters": PARAMETERS}).encode()
HEAD = f"POST /v1/generate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(LONG)}\r\n\r\n".encode()


def test_addresses_have_shares(start_server: StartServer) -> None:
    """One address may have three of four requests."""
    with start_server("--model", str(PRONUNCIATION), "--max-requests", "4", "--drain-timeout", "1") as server:
        connections = [socket.create_connection(("127.0.0.1", server.port), timeout=120) for _ in range(3)]
        for connection in connections:
            connection.sendall(HEAD + LONG)
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
