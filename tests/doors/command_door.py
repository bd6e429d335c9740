"""The door `command`: python3 command_door.py ENCDEC FILE runs the cases of a file with the program ENCDEC.

The task "command" is a call as users type it: "input" is standard input; options are "arguments" (words, or a text that
is split at spaces) and "files" (contents by name). {model} is the folder of the model and {folder} that of the files.
Its output is standard output.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import contract
from contract import Refusal, Request

# Options whose values are lines of a file.
FILES = {
    "targets": "target",
    "prefix": "prefix-file",
    "drafts": "draft-file",
    "bad_words_ids": "bad-words-file",
    "force_words_ids": "force-words-file",
    "shortlist": "shortlist-file",
}
NAMES = FILES | {"forced_bos_token_id": "forced-bos-token", "forced_eos_token_id": "forced-eos-token"}


def line_of(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


def words_of(name: str, value: Any, folder: Path) -> list[str]:
    """Returns an option as the words of a command line. Lines of files are written into the folder."""
    option = "--" + NAMES.get(name, name).replace("_", "-")
    if name in FILES:
        (folder / name).write_text("".join(line_of(each) + "\n" for each in value), encoding="utf-8")
        return [option, str(folder / name)]
    if name == "exponential_decay_length_penalty" and isinstance(value, list):
        return [option, ",".join(map(str, value))]
    if value is True and name != "early_stopping":
        return [option]
    return [option, str(value).lower() if isinstance(value, bool) else line_of(value)]


class Command:
    name = "command"

    def __init__(self, program: Sequence[str]) -> None:
        self.program = list(program)

    def refusal(self, case: dict[str, Any]) -> int:
        return 2 if case.get("wrong") == "usage" else 1

    def ask(self, request: Request) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            return self.tasks[request.task](self, request, Path(folder))

    def run(self, words: list[str], lines: str) -> str:
        """Returns the standard output. If the command fails, the message begins with what it printed before."""
        run = subprocess.run([*self.program, *words], input=lines.encode("utf-8", "surrogateescape"),
                             capture_output=True, timeout=600, check=False)  # fmt: skip
        errors = run.stderr.decode()
        if run.returncode == 0:
            assert errors == "" or "--quiet" not in words, errors
            return run.stdout.decode()
        assert errors.startswith("encdec: "), run
        message = errors.removeprefix("encdec: ").removesuffix("\n")
        if run.stdout:
            message = f"after {run.stdout.decode()!r}: {message}"
        raise Refusal(message, (run.returncode,))

    def options(self, request: Request, folder: Path) -> list[str]:
        """Returns the options of a request as the words of a command line."""
        return sum((words_of(name, value, folder) for name, value in {**request.load, **request.options}.items()), [])

    def objects(self, words: list[str], lines: str) -> list[Any]:
        """Returns the JSON of each line of output. Options in error messages get their Python names."""
        try:
            return [json.loads(line) for line in self.run(words, lines).splitlines()]
        except Refusal as refusal:
            refusal.message = re.sub(r"--[a-z][a-z-]*", lambda name: name[0][2:].replace("-", "_"), refusal.message)
            raise

    def task(self, options: list[str], request: Request, folder: Path, command: str | None = None) -> list[Any]:
        """Runs the command of the name of the task, or another one, with a line for each source."""
        words = [command or request.task, "--quiet", "--model", str(request.model), *options]
        if any(isinstance(each, list) for each in request.input):
            words.append("--token-ids")
        lines = "".join(line_of(each) + "\n" for each in request.input)
        return self.objects([*words, *self.options(request, folder)], lines)

    def call(self, request: Request, folder: Path) -> Any:
        for name, content in request.options.get("files", {}).items():
            (folder / name).write_bytes(content.encode("utf-8", "surrogateescape"))
        names = {"{folder}": str(folder), "{model}": str(request.model)}
        arguments = request.options["arguments"]
        words = arguments.split() if isinstance(arguments, str) else arguments
        words = [re.sub(r"{\w+}", lambda name: names[name[0]], word) for word in words]
        try:
            return self.run(words, request.input)
        except Refusal as refusal:
            named = {Path(word).name for word in words if word.startswith(str(folder))}
            left = {file.name for file in folder.iterdir()} & named - request.options.get("files", {}).keys()
            assert not left, f"{left} is left of what was refused"
            refusal.message = refusal.message.replace(str(folder), "{folder}")
            raise

    tasks: dict[str, Callable[[Command, Request, Path], Any]] = {
        "command": call,
        "generate": lambda door, *request: door.task(["--json"], *request),
        "score": lambda door, *request: door.task([], *request),
        **contract.of_slices("COMMAND"),
    }


if __name__ == "__main__":
    sys.exit(contract.check_file(Command(contract.program_of(sys.argv[1])), Path(sys.argv[2])))
