#!/usr/bin/env python3
"""Checks rules of the C++ sources that no compiler checks: source_rules.py [ROOT]

Prints each line that breaks a rule, and exits with 1 if there is one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ["engine", "layers", "models", "tools", "python"]

# What a handler captures: `this`, all that it names, or `this` by std::bind().
OWNERLESS = r"(\[[^\]]*\bthis\b[^\]]*\]|\[[&=][\],]|\bbind(_front)?\([^;]*\bthis\b)"

RULES = {
    # It finds a key by going through all keys, so a client's object of n keys takes n * n steps.
    "input is read as nlohmann::json, not as ordered_json": [
        r"{ordered}::parse\(",
        r"{ordered}[&\s]+\w+\s*(=|\(|\{)[^;]*(parse_json\(|\bjson\(\)|JsonObject\()",
    ],
    # The object may be gone when the handler runs. An object may post to a context of its own.
    "a handler of an asynchronous operation has a share in its owner, not `this`": [
        rf"\b(async_\w+|co_spawn)\([^;]*{OWNERLESS}",
        rf"\b(post|dispatch|defer)\((?!context_,|pool_,)[^;]*{OWNERLESS}",
    ],
}


def broken(text: str) -> Iterator[tuple[int, str]]:
    """Yields the lines of a source that break a rule, counted from 1, with the rule."""
    names = [*re.findall(r"using (\w+) = nlohmann::ordered_json", text), r"(?:nlohmann::)?ordered_json"]
    ordered = rf"\b(?:{'|'.join(names)})"
    for rule, patterns in RULES.items():
        for pattern in patterns:
            for found in re.finditer(pattern.replace("{ordered}", ordered), text):
                if "self = " not in found[0] and "weak = " not in found[0]:
                    yield text.count("\n", 0, found.start()) + 1, rule


PLANTED = """
using Json = nlohmann::ordered_json;
void a() { const Json body = parse_json(text, "body"); }
void b() { for (const auto& x : Json::parse(text)) use(x); }
void c() { timer_.async_wait([this](error_code error) { close(); }); }
void d() { asio::post(executor_, [this] { end(); }); }
void e() { asio::co_spawn(context_, run(), [this](const std::exception_ptr&) { end(); }); }
void f() { asio::async_read(socket_, buffer_, [&](error_code error) { close(); }); }
void g() { timer_.async_wait(std::bind(&Session::close, this)); }
void good() {
  asio::post(pool_, [this] { run(); });
  asio::post(executor_, [self = shared_from_this(), this] { end(); });
  const Json answer = {{"a", 1}};
}
"""


def main() -> int:
    assert [line for line, _ in broken(PLANTED)] == [4, 3, 5, 7, 8, 9, 6], "the rules do not find what they are for"
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    sources = [path for folder in FOLDERS for path in (root / folder).rglob("*") if path.suffix in (".h", ".cc")]
    found = [(path, *problem) for path in sorted(sources) for problem in broken(path.read_text(encoding="utf-8"))]
    for path, line, rule in found:
        print(f"{path.relative_to(root)}:{line}: {rule}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
