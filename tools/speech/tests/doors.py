"""The speech tasks for tests/doors/contract.py. A source is a path in the repository."""

from __future__ import annotations

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
    from http_door import form

    fields = {"response_format": "verbose_json", **request.options}
    if fields.pop("word_timestamps", False):
        fields["timestamp_granularities[]"] = "word"
    forms = [form(fields, name, (ROOT / name).read_bytes()) for name in request.input]
    return [door.send(request, "/v1/audio/transcriptions", *each) for each in forms]


def python_transcribe(model: Any, request: Any) -> Any:
    results = model.transcribe([ROOT / name for name in request.input], **request.options)
    return without_margins(result.as_dict() for result in results)


COMMAND = {"transcribe": command_transcribe}
HTTP = {"transcribe": http_transcribe}
PYTHON = {"transcribe": python_transcribe}
