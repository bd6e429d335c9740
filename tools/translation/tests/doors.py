"""The translation task of tests/doors/contract.py: inputs and results are texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

LANGUAGES = {"source": "from", "target": "to"}  # option names of the command


def command_translate(door: Any, request: Any, folder: Path) -> Any:
    words = ["translate", "--quiet", "--model", str(request.model)]
    options = {LANGUAGES.get(name, name): value for name, value in request.options.items()}
    words += [word for name, value in {**request.load, **options}.items() for word in (f"--{name}", str(value))]
    return door.run([*words, "-"], "".join(text + "\n" for text in request.input)).splitlines()


def http_translate(door: Any, request: Any) -> Any:
    return door.post(request, "/translate", {"q": request.input, **request.options})["translatedText"]


def python_translate(model: Any, request: Any) -> Any:
    import encdec

    translator = encdec.Translator(str(request.model), **request.load)
    return [result.text for result in translator.translate(request.input, **request.options)]


COMMAND = {"translate": command_translate}
HTTP = {"translate": http_translate}
PYTHON = {"translate": python_translate}
