"""The tasks of speech at the doors of tests/doors/contract.py. A source is a file below the repository."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]


def without_margins(transcripts: Any) -> Any:
    return [each | {"text": each["text"].strip()} for each in transcripts]


def command_transcribe(door: Any, request: Any, folder: Path) -> Any:
    words = ["transcribe", "--quiet", "--model", str(request.model), "--output-format", "json"]
    files = [str(ROOT / name) for name in request.input]
    return without_margins(door.objects([*words, *door.options(request, folder), *files], ""))


def http_transcribe(door: Any, request: Any) -> Any:
    return [post_file(door, request, name) for name in request.input]


def post_file(door: Any, request: Any, name: str) -> Any:
    """Sends a file and options as a form of several parts (RFC 7578)."""
    fields = {"response_format": "verbose_json", **request.options}
    if fields.pop("word_timestamps", False):
        fields["timestamp_granularities[]"] = "word"
    mark = secrets.token_hex()
    parts = [f'name="{key}"\r\n\r\n{value}'.encode() for key, value in fields.items()]
    parts.append(f'name="file"; filename="{name}"\r\n\r\n'.encode() + (ROOT / name).read_bytes())
    body = b"".join(f"--{mark}\r\nContent-Disposition: form-data; ".encode() + part + b"\r\n" for part in parts)
    media_type = f"multipart/form-data; boundary={mark}"
    return door.send(request, "/v1/audio/transcriptions", body + f"--{mark}--\r\n".encode(), media_type)


def python_transcribe(model: Any, request: Any) -> Any:
    results = model.transcribe([ROOT / name for name in request.input], **request.options)
    return without_margins(result.as_dict() for result in results)


COMMAND = {"transcribe": command_transcribe}
HTTP = {"transcribe": http_transcribe}
PYTHON = {"transcribe": python_transcribe}
