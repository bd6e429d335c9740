"""Home Assistant's events, through wyoming-openai and OpenAI's endpoints."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import wave
from pathlib import Path
from typing import Any

import pytest

from serving import NUMBERS, ROOT, StartServer

PYTHON = ROOT / "build/wyoming-venv/bin/python"  # made by tools/test_serve.sh
PCM = {"rate": 16_000, "width": 2, "channels": 1}

pytestmark = pytest.mark.skipif(
    not PYTHON.exists(), reason="no wyoming-openai: tools/test_serve.sh installs it where there is Python 3.12"
)


def event(kind: str, data: Any = None, payload: bytes = b"") -> bytes:
    """Returns an event as Home Assistant writes it: a line, then the data."""
    body = b"" if data is None else json.dumps(data).encode()
    head = {"type": kind, "version": "1.10.0", "data_length": len(body), "payload_length": len(payload)}
    return json.dumps(head).encode() + b"\n" + body + payload


def answers_until(last: str, path: Path, *events: bytes) -> dict[str, Any]:
    """Sends events. Returns the data of the replies by type, up to a reply of type `last`."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(60)
        client.connect(str(path))
        client.sendall(b"".join(events))
        reader, answers = client.makefile("rb"), {}
        while last not in answers:
            head = json.loads(reader.readline())
            answers[head["type"]] = json.loads(reader.read(head["data_length"])) if "data_length" in head else {}
        return answers


@pytest.mark.parametrize("option", ["--stt-models", "--stt-realtime-models"])
def test_home_assistant(start_server: StartServer, tmp_path: Path, option: str) -> None:
    with wave.open(str(NUMBERS / "clips/number.wav")) as file:
        audio = file.readframes(file.getnframes())
    chunks = [event("audio-chunk", PCM, audio[i : i + 2_048]) for i in range(0, len(audio), 2_048)]
    path = tmp_path / "wyoming"
    with start_server("--model", f"numbers={NUMBERS}") as server:
        command = [PYTHON, "-m", "wyoming_openai", "--uri", f"unix://{path}", "--languages", "en", option, "numbers"]
        bridge = subprocess.Popen([*command, "--stt-openai-url", f"{server.url}/v1", "--stt-openai-key", "none"])
        try:
            while not path.exists():
                assert bridge.poll() is None
                time.sleep(0.05)
            info = answers_until("info", path, event("describe"))["info"]
            speech = [event("transcribe", {"language": "en"}), event("audio-start", PCM), *chunks, event("audio-stop")]
            transcript = answers_until("transcript", path, *speech)["transcript"]
        finally:
            bridge.terminate()
            bridge.wait(60)
    assert [(model["name"], model["languages"]) for model in info["asr"][0]["models"]] == [("numbers", ["en"])]
    assert transcript["text"] == "three hundred and twelve"
