"""The contract of all doors (command, HTTP, Python): requests as data, and what each door gives for them.

A file of cases, tests/cases/*.json or tools/SLICE/tests/cases/*.json, is an object: "model" and "task" of its cases, and
"cases", a list of objects with these keys:
  name        what is promised
  model, task, load   instead of the file's: a folder below the repository; options of loading, such as {"precision": "int8"}
  changes     what is damaged in a copy of the folder, by file: None removes it, a text is its new content, an object is merged
              into its JSON (or into the header of .safetensors), and a number is where it is cut
  input       the sources: texts, or lists of token ids
  options     options of the call, by their Python names; also targets, prefix, drafts, query, ... of each input
  each        {option: values}: the case is run once for each of these values, beside `options`
  doors       the doors that have this capability, if not all
and one of
  output      results by input; each a text, or an object whose keys the result must have. Numbers are equal to within 1e-4
  contains    parts of the output, in order, if that is a text
  same_as, differs_from   options whose result is equal, or is not
  error       parts of the message, in order; {model} is the path of the folder. `wrong` is "usage" (command: status 2) or, if left out, "data" (status 1);
              `raises` is the Python exception if it is not a ValueError; `status` is that of HTTP if it is not 400
"""

from __future__ import annotations

import contextlib
import json
import math
import runpy
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

ROOT = Path(__file__).parents[2]
CALL_DATA = ("targets", "prefix", "drafts")  # a value for each input; the command reads them from files


@dataclass(frozen=True)
class Request:
    task: str
    model: Path
    input: Any
    options: dict[str, Any]
    load: dict[str, Any] = field(default_factory=dict)


@dataclass
class Refusal(Exception):
    """What a door says if it refuses a request."""

    message: str
    kinds: tuple[str | int, ...]  # the names of the Python exception and its bases, or the status of HTTP or the command


class Door(Protocol):
    """A way to run encdec. `refusal` returns of which kind the refusal of a case must be."""

    name: str
    tasks: dict[str, Any]

    def ask(self, request: Request) -> Any: ...
    def refusal(self, case: dict[str, Any]) -> str | int: ...


def program_of(words: str) -> list[str]:
    """Returns the words of a command that CMake has given as a list."""
    return [word for word in words.split(";") if word]


def of_slices(name: str) -> dict[str, Any]:
    """Returns the tasks that slices add to a door: the variable `name` of their tests/doors.py."""
    tasks: dict[str, Any] = {}
    for file in ROOT.glob("tools/*/tests/doors.py"):
        tasks |= runpy.run_path(str(file)).get(name, {})
    return tasks


def files(named: Sequence[str] = ()) -> list[Path]:
    """Returns the files of cases that are named, or all."""
    everything = [*ROOT.glob("tests/cases/*.json"), *ROOT.glob("tools/*/tests/cases/*.json")]
    return sorted(map(Path, named) if named else everything)


def cases(file: Path) -> Iterator[dict[str, Any]]:
    """Yields the cases of a file, one for each value of `each`."""
    content = json.loads(file.read_text(encoding="utf-8"))
    shared = {key: value for key, value in content.items() if key != "cases"}
    for case in content["cases"]:
        case = {"options": {}, "load": {}, **shared, **case}
        variants = [(name, value) for name, values in case.get("each", {}).items() for value in values]
        for name, value in variants:
            yield case | {"name": f"{case['name']}: {name} {value!r}", "options": case["options"] | {name: value}}
        if not variants:
            yield case


def merged(old: Any, change: Any) -> Any:
    """Returns JSON with a change: objects are merged, and a key whose value is None is removed (RFC 7396)."""
    if not isinstance(old, dict) or not isinstance(change, dict):
        return change
    new = old | {key: merged(old.get(key), value) for key, value in change.items()}
    return {key: value for key, value in new.items() if value is not None}


def change_file(file: Path, change: Any) -> None:
    if change is None:
        file.unlink()
    elif isinstance(change, str):
        file.write_bytes(change.encode("utf-8", "surrogateescape"))
    elif isinstance(change, int):
        file.write_bytes(file.read_bytes()[:change])
    elif file.suffix == ".safetensors":
        content = file.read_bytes()
        end = 8 + int.from_bytes(content[:8], "little")
        header = json.dumps(merged(json.loads(content[8:end]), change)).encode()
        file.write_bytes(len(header).to_bytes(8, "little") + header + content[end:])
    else:
        file.write_text(json.dumps(merged(json.loads(file.read_text("utf-8")), change)), "utf-8")


@contextlib.contextmanager
def request_of(case: dict[str, Any]) -> Iterator[Request]:
    """Yields the request of a case. A changed folder exists until then."""
    with tempfile.TemporaryDirectory() as folder:
        model = ROOT / case["model"]
        if "changes" in case:
            model = shutil.copytree(model, Path(folder) / "model")
            for name, change in case["changes"].items():
                change_file(model / name, change)
        yield Request(case["task"], model, case["input"], case["options"], case["load"])


def difference(wanted: Any, found: Any, place: str = "output") -> str | None:
    """Returns where a result differs from what is wanted; None if it does not."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        pairs = [(f"{place}.{key}", value, found.get(key, "nothing")) for key, value in wanted.items()]
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        pairs = [(f"{place}[{i}]", *pair) for i, pair in enumerate(zip(wanted, found, strict=True))]
    elif isinstance(wanted, float) and isinstance(found, float | int):
        return None if math.isclose(wanted, found, rel_tol=1e-4, abs_tol=1e-5) else f"{place} is {found}, expected {wanted}"
    elif isinstance(wanted, str) and isinstance(found, dict):  # the text of the best hypothesis
        pairs = [(place, wanted, found["hypotheses"][0].get("text"))]
    else:
        return None if wanted == found else f"{place} is {found!r}, expected {wanted!r}"
    return next(filter(None, (difference(a, b, where) for where, a, b in pairs)), None)


def missing(parts: str | list[str], text: str) -> str | None:
    """Returns which of the parts is not in the text, after the one before; None if all are."""
    at = 0
    for part in [parts] if isinstance(parts, str) else parts:
        at = text.find(part, at)
        if at < 0:
            return f"{text[:500]!r} has no {part!r}"
        at += len(part)
    return None


def error_difference(case: dict[str, Any], model: Path, refusal: Refusal, kind: str | int) -> str | None:
    """Returns how an error differs from what is wanted."""
    message = refusal.message.replace(str(model), "{model}")
    if message.count("\n") > 0:
        return f"the error {message!r} has several lines"
    if kind not in refusal.kinds:
        return f"the error {message!r} is {refusal.kinds}, expected {kind}"
    return missing(case["error"], message)


def check(door: Door, case: dict[str, Any]) -> str | None:
    """Runs a case at a door. Returns how the answer differs from the contract; None if it does not."""
    if case["task"] not in door.tasks or door.name not in case.get("doors", [door.name]):
        return None
    with request_of(case) as request:
        return check_request(door, case, request)


def check_request(door: Door, case: dict[str, Any], request: Request) -> str | None:
    try:
        found = door.ask(request)
    except Refusal as refusal:
        if "error" not in case:
            return f"refused: {refusal.message}"
        return error_difference(case, request.model, refusal, door.refusal(case))
    if "error" in case:
        return f"not refused: {found}"
    if "output" in case:
        return difference(case["output"], found)
    if "contains" in case:
        return missing(case["contains"], found)
    key = "same_as" if "same_as" in case else "differs_from"
    other = door.ask(replace(request, options=case[key]))
    return None if (found == other) == (key == "same_as") else f"{found}\n  and with {case[key]}: {other}"


def check_file(door: Door, file: Path) -> int:
    """Runs the cases of a file at a door, prints those that differ, and returns their number."""
    failed = 0
    for case in cases(file):
        if problem := check(door, case):
            failed += 1
            print(f"{file.name}: {case['name']}: {door.name}: {problem}")
    return failed
