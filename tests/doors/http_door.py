"""The door `http`: python3 http_door.py ENCDEC FILE runs the cases of a file with servers of the program ENCDEC.

The task "post" is a request as clients send it: options are "path" and "body", JSON or any text. Its output is the
answer's JSON; what an error must contain is looked for in the JSON of the whole answer.
"""

from __future__ import annotations

import contextlib
import json
import re
import secrets
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import contract
from contract import Refusal, Request

SECONDS = 300  # in which a server starts, or ends; emulators are slow
NAMES = {"prefix": "prefixes", "drafts": "drafts", "token_scores": "token_scores"}  # beside "parameters"


@contextlib.contextmanager
def running(command: Sequence[str]) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Yields the address of a server and its process, which must end with status 0 after SIGTERM."""
    with subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stderr is not None
        lines: list[str] = []
        too_late = threading.Timer(SECONDS, process.kill)
        too_late.start()
        try:
            while not (lines and (found := re.search(r"serving .* at (http://\S+)", lines[-1]))):
                lines.append(process.stderr.readline())
                if not lines[-1]:
                    raise Refusal("".join(lines).removeprefix("encdec: ").removesuffix("\n"), (process.wait(),))
        finally:
            too_late.cancel()
        try:
            yield found[1], process
        finally:
            process.terminate()
            try:
                lines.append(process.communicate(timeout=SECONDS)[1])
            except subprocess.TimeoutExpired:
                process.kill()
                raise
    assert process.returncode == 0, "".join(lines)


def form(fields: dict[str, Any], name: str, content: bytes) -> tuple[bytes, str]:
    """Returns a form with a file, and its media type (RFC 7578)."""
    mark = secrets.token_hex()
    parts = [f'name="{key}"\r\n\r\n{value}'.encode() for key, value in fields.items()]
    parts.append(f'name="file"; filename="{name}"\r\n\r\n'.encode() + content)
    body = b"".join(f"--{mark}\r\nContent-Disposition: form-data; ".encode() + part + b"\r\n" for part in parts)
    return body + f"--{mark}--\r\n".encode(), f"multipart/form-data; boundary={mark}"


def generate(door: Http, request: Request) -> Any:
    body = {NAMES[name]: value for name, value in request.options.items() if name in NAMES}
    parameters = {name: value for name, value in request.options.items() if name not in NAMES}
    return door.post(request, "/v1/generate", {"inputs": request.input, **body, "parameters": parameters})["results"]


class Http:
    name = "http"
    tasks: dict[str, Callable[[Http, Request], Any]] = {
        "generate": generate,
        "post": lambda door, request: door.post(request, request.options["path"], request.options["body"]),
        **contract.of_slices("HTTP"),
    }

    def __init__(self, program: Sequence[str], servers: contextlib.ExitStack) -> None:
        self.program = program
        self.servers = servers
        self.addresses: dict[str, str] = {}

    def refusal(self, case: dict[str, Any]) -> int:
        return int(case.get("status", 400))

    def post(self, request: Request, path: str, body: Any) -> Any:
        text = body if isinstance(body, str) else json.dumps(body)
        return self.send(request, path, text.encode("utf-8", "surrogateescape"), "application/json")

    def send(self, request: Request, path: str, body: bytes, media_type: str) -> Any:
        key = repr((request.model, request.load))
        if key not in self.addresses:
            command = [*self.program, "serve", "--port", "0", "--quiet", "--model", str(request.model)]
            for name, value in request.load.items():
                command += ["--" + name.replace("_", "-"), str(value)]
            self.addresses[key], _ = self.servers.enter_context(running(command))
        sent = urllib.request.Request(self.addresses[key] + path, body, {"Content-Type": media_type})
        try:
            with urllib.request.urlopen(sent, timeout=600) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            message = json.load(error)
            is_native = isinstance(message.get("error"), str)
            raise Refusal(message["error"] if is_native else json.dumps(message), (error.code,)) from None

    def ask(self, request: Request) -> Any:
        return self.tasks[request.task](self, request)


if __name__ == "__main__":
    with contextlib.ExitStack() as servers:
        sys.exit(contract.check_file(Http(contract.program_of(sys.argv[1]), servers), Path(sys.argv[2])))
