"""Measures how long a good client waits while the server is attacked: python tests/serve/attacks.py [PROGRAM]

Starts a server on a loopback port for each kind of attack. Prints for each:
- the median, the 99th percentile and the maximum of the time of the good client's requests,
- the number of these requests that failed,
- the maximum resident memory of the server.
Takes less than a minute. Exits with status 1 if a request failed or a server did not end in time.
"""

from __future__ import annotations

import http.client
import io
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import wave
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 4.0
DRAIN_SECONDS = 3
JSON = {"Content-Type": "application/json"}
LONG_TEXT = "ab cd ef " * 200_000


def recording(seconds: float, rate: int = 16_000) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(1)
        writer.setframerate(rate)
        writer.writeframes(b"\x80" * int(seconds * rate))
    return file.getvalue()


def form(content: bytes, disposition: str = 'form-data; name="file"; filename="a.wav"') -> bytes:
    return f"--b\r\nContent-Disposition: {disposition}\r\n\r\n".encode() + content + b"\r\n--b--\r\n"


FORM = {"Content-Type": "multipart/form-data; boundary=b"}
CLIP = form(recording(0.5))
HOURS = form(recording(3 * 3600, 2000))


class Server:
    """A server with a translator and a speech model."""

    def __init__(self, program: str, *options: str) -> None:
        command = [program, "serve", "--port", "0", "--threads", "1", "--drain-timeout", str(DRAIN_SECONDS), *options]
        command += ["--model", str(ROOT / "models/pretrained/english-pronunciation")]
        command += ["--model", str(ROOT / "tests/golden/whisper_formats/hugging_face")]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if found := re.search(r"http://127.0.0.1:(\d+)", line):
                self.port = int(found[1])
                break
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def ask(self, path: str, body: str | bytes, headers: dict[str, str]) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status
        finally:
            connection.close()

    def open(self, data: bytes) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        connection.sendall(data)
        return connection

    def peak_megabytes(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1000

    def ends(self) -> bool:
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(DRAIN_SECONDS + 2) == 0
        except subprocess.TimeoutExpired:
            self.process.kill()
            return False


def head(path: str, fields: str) -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n\r\n".encode()


def asking(path: str, body: str | bytes, headers: dict[str, str]) -> Callable[[Server], None]:
    return lambda server: void(server.ask(path, body, headers))


def void(_: object) -> None:
    pass


def announced(server: Server) -> None:
    """Announces bodies and does not send them."""
    held = [server.open(head("/translate", "Transfer-Encoding: chunked")) for _ in range(32)]
    time.sleep(1)
    for connection in held:
        connection.close()


def deaf(server: Server) -> None:
    """Requests large answers and does not read them."""
    body = json.dumps({"inputs": LONG_TEXT[:200_000]})
    held = [server.open(head("/tokenize", f"Content-Length: {len(body)}") + body.encode()) for _ in range(8)]
    time.sleep(1)
    for connection in held:
        connection.close()


def ahead(server: Server) -> None:
    """Requests much work, sends more bytes ahead, and disconnects."""
    body = json.dumps({"inputs": ["photography"] * 200, "parameters": {"num_beams": 4, "min_new_tokens": 100}})
    data = head("/v1/generate", f"Content-Length: {len(body)}") + body.encode()
    server.open(data + b"x" * 40_000).close()


COSTLY = {"num_beams": 16, "num_return_sequences": 16, "top_log_probs": 100, "min_new_tokens": 100, "max_new_tokens": 100}
ATTACKS: dict[str, Callable[[Server], None]] = {
    "none": lambda server: time.sleep(0.1),
    "semicolons": asking("/translate", form(b"", "form-data" + ";" * 80_000), FORM),
    "long texts": asking(
        "/translate",
        json.dumps({"q": LONG_TEXT, "source": "en", "target": "arpabet"}),
        JSON | {"X-Request-Timeout-Ms": "1"},
    ),
    "tokens": asking("/tokenize", json.dumps({"inputs": LONG_TEXT}), JSON),
    "costly": asking("/v1/generate", json.dumps({"inputs": ["photography"] * 100, "parameters": COSTLY}), JSON),
    "deaf": deaf,
    "announced": announced,
    "ahead": ahead,
    "hours of sound": asking("/v1/audio/transcriptions", HOURS, FORM | {"X-Request-Timeout-Ms": "3000"}),
}


def run(program: str, name: str) -> bool:
    options = ["--max-requests", "32"] if name == "announced" else []
    server = Server(program, *options)
    end = time.monotonic() + SECONDS

    def attack() -> None:
        while time.monotonic() < end:
            try:
                ATTACKS[name](server)
            except (OSError, http.client.HTTPException):
                pass

    attackers = [threading.Thread(target=attack, daemon=True) for _ in range(4)]
    for attacker in attackers:
        attacker.start()
    speaks = name == "hours of sound"
    word = json.dumps({"q": "cat", "source": "en", "target": "arpabet"})
    times, failures = [], 0
    while time.monotonic() < end:
        begin = time.monotonic()
        try:
            status = server.ask("/v1/audio/transcriptions", CLIP, FORM) if speaks else server.ask("/translate", word, JSON)
        except (OSError, http.client.HTTPException):
            status = 0
        failures += status != 200
        times.append(1000 * (time.monotonic() - begin))
        time.sleep(0.005)
    memory = server.peak_megabytes()
    has_ended = server.ends()
    times.sort()
    late = times[int(len(times) * 0.99)]
    print(
        f"{name:15} median {times[len(times) // 2]:8.1f} ms, 99 % {late:8.1f} ms, longest {times[-1]:8.1f} ms, "
        f"{failures} of {len(times)} failed, {memory:.0f} MB{'' if has_ended else ', did not end'}",
        flush=True,
    )
    return failures == 0 and has_ended


def main() -> int:
    program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/release/bin/encdec")
    return 0 if all([run(program, name) for name in ATTACKS]) else 1


if __name__ == "__main__":
    sys.exit(main())
