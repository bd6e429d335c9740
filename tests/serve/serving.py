"""Runs `encdec serve` as a process, and the other commands for the results to expect."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import urllib.request
import wave
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import pytest

import http_door
from packed import unpacked

ROOT = Path(__file__).parents[2]
PROGRAM = Path(os.environ.get("ENCDEC", ROOT / "build/release/bin/encdec")).absolute()
LIMITED = PROGRAM.with_name("limited_server")  # takes limits that encdec serve has no options for
GOLDEN = ROOT / "tests/golden"
PRONUNCIATION = ROOT / "models/pretrained/english-pronunciation"
NUMBERS = ROOT / "models/pretrained/english-numbers"
EMBEDDER = unpacked(ROOT / "tools/encoders/tests/golden/sentence_transformers/mean_normalized") / "model"
STUDENT = GOLDEN / "students/planted"  # translates each word to another one
WHISPER = GOLDEN / "whisper_formats/hugging_face"  # random weights
DECODER = GOLDEN / "gpt2/with_prefix/model"  # no tokenizer
KEY = "a-key-of-the-tests"

# Clients must not send tokens that they find on this machine, and must not use its proxies.
os.environ["HF_HUB_DISABLE_IMPLICIT_TOKEN"] = "1"
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"

Options = dict[str, Any]  # options of a command: {"num_beams": 2, "json": True} is --num-beams 2 --json
StartServer = Callable[..., AbstractContextManager["Server"]]


@dataclass
class Server:
    url: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


@contextmanager
def running(*arguments: str, program: Path = PROGRAM) -> Iterator[Server]:
    """Yields a running server. At the end it gets SIGTERM and must exit with status 0."""
    options = ["serve", "--port", "0", "--threads", "1", "--quiet"] if program == PROGRAM else ["port=0"]
    with http_door.running([str(program), *options, *arguments]) as (url, process):
        yield Server(url, process)


def model_arguments(models: dict[str, Path]) -> list[str]:
    return [word for name, folder in models.items() for word in ("--model", f"{name}={folder}")]


@pytest.fixture(scope="session")
def speller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A decoder-only model with random weights whose tokens are letters."""
    folder = tmp_path_factory.mktemp("models") / "speller"
    shutil.copytree(DECODER, folder)
    end = {"content": "<|end|>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    vocabulary = {token: i for i, token in enumerate([*"abcdefghijklmnopqrstuvwx", "Ġ", end["content"]])}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    tokenizer = {
        "version": "1.0",
        "added_tokens": [{"id": len(vocabulary) - 1, **end, "special": True}],
        "pre_tokenizer": level,
        "decoder": level,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": []},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "GPT2Tokenizer"}', encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def models(speller: Path) -> dict[str, Path]:
    """Folders of models by name. The last name is like one of the Hugging Face hub."""
    return {
        "english-pronunciation": PRONUNCIATION,
        "embedder": EMBEDDER,
        "speller": speller,
        "tests/embedder": EMBEDDER,
    }


@pytest.fixture(scope="session")
def server(models: dict[str, Path]) -> Iterator[Server]:
    with running(*model_arguments(models)) as server:
        yield server


@pytest.fixture(scope="session")
def guarded(models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that requires KEY."""
    keys = tmp_path_factory.mktemp("keys") / "keys"
    keys.write_text(f"# keys\nanother-key\n{KEY}\n", encoding="utf-8")
    with running("--api-key-file", str(keys), *model_arguments(models)) as server:
        yield server


@pytest.fixture(scope="session")
def german(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that translates from English to German, by the names of its files."""
    folder = tmp_path_factory.mktemp("german")
    for file in (STUDENT / "model").iterdir():
        shutil.copy(file, folder / file.name.replace("enxx", "ende"))
    return folder


@pytest.fixture(scope="session")
def german_server(german: Path) -> Iterator[Server]:
    with running("--model", str(german)) as server:
        yield server


@pytest.fixture(scope="session")
def pairs() -> list[tuple[str, str]]:
    """Texts and their translations by the model `german`."""
    lines = (STUDENT / "texts.txt").read_text(encoding="utf-8").splitlines()
    return [(source, target) for source, target in (line.split("\t") for line in lines)]


@pytest.fixture
def start_server() -> StartServer:
    return running


@pytest.fixture(scope="session")
def words() -> list[str]:
    lines = (PRONUNCIATION / "test_words.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t")[0] for line in lines if line and not line.startswith("#")]


def metric(server: Server, name: str) -> float:
    """Returns the value of a metric; 0 if it does not exist."""
    with urllib.request.urlopen(server.url + "/metrics", timeout=60) as answer:
        found = re.search(rf"^{re.escape(name)} (\S+)$", answer.read().decode(), re.MULTILINE)
    return float(found[1]) if found else 0.0


def run(command: str, folder: Path, lines: Sequence[str], options: Options) -> list[Any]:
    """Runs a command and returns its output: one JSON value for each line."""
    words: list[str] = []
    for name, value in options.items():
        words += ["--" + name.replace("_", "-"), *([] if value is True else [str(value)])]
    output = subprocess.run(
        [PROGRAM, command, "--model", folder, "--threads", "1", "--quiet", *words],
        input="".join(line + "\n" for line in lines), stdout=subprocess.PIPE, text=True, check=True,
    ).stdout  # fmt: skip
    return [json.loads(line) for line in output.splitlines()]


def generate(folder: Path, lines: Sequence[str], **options: Any) -> list[list[Any]]:
    """Returns the hypotheses of each line, by `encdec generate`."""
    rows = run("generate", folder, lines, {"json": True, **options})
    return [row["hypotheses"] for row in rows]


def like(hypotheses: list[Any], served: list[Any]) -> list[Any]:
    """Returns the server's hypotheses, with only the keys that the command's hypotheses have."""
    return [{name: each[name] for name in hypotheses[0]} for each in served]


def texts(folder: Path, lines: Sequence[str], **options: Any) -> list[str]:
    return [hypotheses[0]["text"] for hypotheses in generate(folder, lines, **options)]


def pronounced(*lines: str, **options: Any) -> list[str]:
    return texts(PRONUNCIATION, lines, **options)


def embeddings(lines: Sequence[str], **options: Any) -> numpy.ndarray:
    """Returns vectors by `encdec embed`, as float32 rows."""
    return numpy.array(run("embed", EMBEDDER, lines, options), dtype=numpy.float32)


def float32_bytes(rows: Any) -> bytes:
    return numpy.array(rows, dtype=numpy.float32).tobytes()


def noise(seconds: float) -> bytes:
    """Returns a WAV file of noise whose loudness rises and falls."""
    count = round(seconds * 16_000)
    loud = 6_000 * numpy.abs(numpy.sin(numpy.arange(count) * (5.0 / 16_000)))
    samples = loud * numpy.random.default_rng(0).uniform(-1, 1, count)
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(16_000)
        writer.writeframes(samples.astype("<i2").tobytes())
    return file.getvalue()
