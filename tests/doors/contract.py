"""The contract of all doors (command, HTTP, Python): requests as data, and what each door gives for them.

A file of cases, tests/cases/*.json or tools/SLICE/tests/cases/*.json, is an object: "cases" is a list of objects with
the keys below, and the other keys are those that its cases share.

name      what is promised
task      what is asked for: a name in the `tasks` of the doors
model     the folder, below the repository; below real_weights() if it begins with "real/"
load      options of loading: {"precision": "int8"}
changes   what is damaged in a copy of the folder, by file: null removes it, a text is its new content, an object is
          merged into its JSON (or into the header of .safetensors), and a number is where it is cut
input     the sources: texts, or lists of token ids
options   options of the call by their Python names, and what comes with each source: "targets", "prefix", "drafts"
each      {option: values}: the case is run once for each of the values, beside `options`
variants  the case is run once for each of these, whose keys replace its own
doors     the doors that have this capability, if not all

and one of these:

output    results by source; each is a text, or an object whose keys the result must have. Numbers are equal to within
          1e-4. At most `differ_at_most` of the results may differ
pairs     instead of input and output: [source, text] of each source
contains  parts of the output, in order, if the output is a text
same_as, differs_from   options whose result is equal, or is not
error     parts of the message, in order; {model} is the path of the folder. `wrong` is "usage" (status 2 of the command)
          or, if it is left out, "data" (status 1); `raises` is the Python exception if it is not a ValueError; `status`
          is that of HTTP if it is not 400
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import os
import runpy
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

OUTCOMES = {"output", "pairs", "contains", "same_as", "differs_from", "error"}
KEYS = OUTCOMES | set("name task model load changes input options each doors differ_at_most wrong raises status".split())
ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests/golden"))
from packed import unpacked  # noqa: E402


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
    kinds: tuple[str | int, ...]  # names of the Python exception and its bases; status of HTTP or of the command


class Door(Protocol):
    """A way to run encdec. `refusal` returns of which kind the refusal of a case must be."""

    name: str
    tasks: dict[str, Any]

    def ask(self, request: Request) -> Any: ...
    def refusal(self, case: dict[str, Any]) -> str | int: ...


def program_of(words: str) -> list[str]:
    """Returns the words of a command that CMake has given as a list."""
    return [word for word in words.split(";") if word]


@functools.cache
def of_slices(name: str) -> dict[str, Any]:
    """Returns the tasks that slices add to a door: the variable `name` of their tests/doors.py."""
    tasks: dict[str, Any] = {}
    for file in ROOT.glob("tools/*/tests/doors.py"):
        tasks |= runpy.run_path(str(file)).get(name, {})
    return tasks


def known_tasks() -> set[str]:
    return {"command", "post", "generate", "score"}.union(*map(of_slices, ("COMMAND", "HTTP", "PYTHON")))


def files() -> list[Path]:
    return sorted([*ROOT.glob("tests/cases/*.json"), *ROOT.glob("tools/*/tests/cases/*.json")])


def real_weights() -> Path | None:
    """Returns the folder of the checkpoints that tools/real_weights.sh fetches; None if they are not here."""
    return Path(folder) if (folder := os.environ.get("ENCDEC_REAL_WEIGHTS")) else None


def cases(file: Path) -> Iterator[dict[str, Any]]:
    """Yields the cases of a file, one for each variant and each value of `each`."""
    shared = json.loads(file.read_text(encoding="utf-8"))
    for case in shared.pop("cases"):
        for variant in case.pop("variants", [{}]):
            one = {"options": {}, "load": {}, **shared, **case, **variant}
            assert one.keys() <= KEYS and len(one.keys() & OUTCOMES) == 1 and one["task"] in known_tasks(), one
            if "pairs" in one:
                one["input"], one["output"] = map(list, zip(*one["pairs"], strict=True))
            values = [(name, value) for name, values in one.get("each", {}).items() for value in values]
            for name, value in values:
                yield one | {"name": f"{one['name']}: {name} {value!r}", "options": one["options"] | {name: value}}
            if not values:
                yield one


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


def folder_of(name: str) -> Path:
    """Returns the folder of a model, whose folder may be packed."""
    if (real := real_weights()) and name.startswith("real/"):
        return real / name.removeprefix("real/")
    folder = ROOT / name
    for above in (folder, *folder.parents):
        if Path(f"{above}.txtar").exists():
            return unpacked(above) / folder.relative_to(above)
    return folder


@contextlib.contextmanager
def request_of(case: dict[str, Any]) -> Iterator[Request]:
    """Yields the request of a case. A changed folder exists until then."""
    with tempfile.TemporaryDirectory() as folder:
        model = folder_of(case["model"])
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
        return None if math.isclose(wanted, found, rel_tol=1e-4, abs_tol=1e-5) else f"{place} is {found} for {wanted}"
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
        if (allowed := case.get("differ_at_most", 0)) == 0:
            return difference(case["output"], found)
        different = [text for pair in zip(case["output"], found, strict=True) if (text := difference(*pair))]
        return None if len(different) <= allowed else f"{len(different)} results differ: {different}"
    if "contains" in case:
        return missing(case["contains"], found)
    key = "same_as" if "same_as" in case else "differs_from"
    other = door.ask(replace(request, options=case[key]))
    return None if (found == other) == (key == "same_as") else f"{found}\n  and with {case[key]}: {other}"


def check_file(door: Door, file: Path) -> int:
    """Runs the cases of a file at a door and prints those that differ. Returns a status: 0, 1, or 77 for skipped."""
    failed = 0
    for case in cases(file):
        if case["model"].startswith("real/") and not real_weights():
            print(f"{file.name}: skipped without real weights: tools/real_weights.sh")
            return 77
        if problem := check(door, case):
            failed = 1
            print(f"{file.name}: {case['name']}: {door.name}: {problem}")
    return failed
