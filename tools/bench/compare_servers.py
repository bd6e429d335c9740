#!/usr/bin/env python3
"""Compares encdec serve with FastAPI servers around other engines under load: the same random models and requests, in turns.

  compare_servers.py --folder /tmp/peers --python ctranslate2=/opt/ct2/bin/python --python onnx=/opt/st/bin/python

The folder is that of compare_python.py, which makes the models (cells `tasks` and `embed`). In each round every server is started,
asked by 1, 16 and 128 clients at once, each with a connection of its own that asks again as soon as it is answered, and ended; another
server comes first each time. Texts have 6 to 40 words and results 8 to 64 tokens, the same for all; an embedding request has one sentence.
Columns: requests a second, median and 99th percentile of the seconds of a request, and the ratio of requests a second to encdec's, round
by round: its median. `generate` is `encdec generate` on the same texts, in one process: what a server can reach.

Servers and clients share the machine's CPUs. Needs FastAPI and uvicorn beside the engines, and nothing for the clients.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from compare_python import sentences_of
from peers.turns import in_turns

TOOLS = Path(__file__).resolve().parent
CLIENTS = (1, 16, 128)
PORT = 18090
KINDS = {"translation": ("encdec", "ctranslate2"), "embedding": ("encdec", "onnx", "openvino")}


def requests_of(kind, folder, count):
    """(text, tokens of the result) of each request."""
    words = (folder / "corpus.txt").read_text().split()
    rng = random.Random(5)
    if kind == "embedding":
        return [(text, 0) for text in sentences_of(folder)[:count]]
    return [(" ".join(rng.choices(words, k=rng.randint(6, 40))), rng.randint(8, 64)) for _ in range(count)]


def message(kind, engine, text, tokens):
    """The bytes of a request."""
    if engine == "encdec" and kind == "translation":
        path, body = "/v1/generate", {"inputs": [text], "parameters": {"min_new_tokens": tokens, "max_new_tokens": tokens}}
    elif engine == "encdec":
        path, body = "/embed", {"inputs": [text]}
    elif kind == "translation":
        path, body = "/translate", {"text": text, "tokens": tokens}
    else:
        path, body = "/embed", {"texts": [text]}
    data = json.dumps(body).encode()
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data


async def client(messages, seconds):
    """Sends what is left, one after the other."""
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
    while messages:
        begin = time.perf_counter()
        writer.write(messages.pop())
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        await reader.readexactly(length)
        seconds.append(time.perf_counter() - begin)
    writer.close()


async def load(messages, clients):
    """Seconds of all, and of each request."""
    seconds, waiting = [], list(messages)
    begin = time.perf_counter()
    await asyncio.gather(*(client(waiting, seconds) for _ in range(clients)))
    return time.perf_counter() - begin, seconds


def start(options, kind, engine):
    if engine == "encdec":
        model = options.folder / ("minilm" if kind == "embedding" else "hf")
        command = [options.encdec, "serve", "--quiet", "--model", model, "--port", PORT, "--precision", options.precision if kind == "translation" else "float32"]
        command += ["--workers", len(os.sched_getaffinity(0)), "--threads", 1]
    else:
        command = [options.python.get(engine, sys.executable), TOOLS / "peers/http_server.py", engine, options.folder]
        command += ["--precision", options.precision, "--port", PORT]
    process = subprocess.Popen([str(each) for each in command], stderr=subprocess.DEVNULL)
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{PORT}/ready", timeout=5).read()
            return process
        except OSError:
            if process.poll() is not None:
                raise SystemExit(f"{engine}: ended with {process.returncode}") from None
            time.sleep(0.1)


def measure(options, kind, engine):
    """{clients: (requests a second, [seconds of each])}"""
    process = start(options, kind, engine)
    try:
        results = {}
        for clients in CLIENTS:
            # Long enough for every client to come again.
            count = options.requests * {1: 1, 16: 4, 128: 8}[clients]
            messages = [message(kind, engine, *each) for each in requests_of(kind, options.folder, count)]
            asyncio.run(load(messages[: min(len(messages), 2 * clients)], clients))
            total, seconds = asyncio.run(load(messages, clients))
            results[clients] = (len(seconds) / total, seconds)
        return results
    finally:
        process.terminate()
        process.wait()


def generate_rate(options):
    """Texts a second of `encdec generate`; results have 36 tokens, the mean of the requests'."""
    requests = requests_of("translation", options.folder, options.requests * 8)
    stats = options.folder / "stats.json"
    command = [options.encdec, "generate", "--quiet", "--model", options.folder / "hf", "--precision", options.precision, "--threads", 1]
    command += ["--workers", len(os.sched_getaffinity(0)), "--min-new-tokens", 36, "--max-new-tokens", 36, "--stats", stats]
    text = "".join(text + "\n" for text, _ in requests)
    subprocess.run([str(each) for each in command], input=text, text=True, check=True, stdout=subprocess.DEVNULL)
    found = json.loads(stats.read_text())
    return len(requests) / (found["total_seconds"] - found["load_seconds"])


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--engines", nargs="+", default=[], help="those of a kind that are measured; all if not given")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--requests", type=int, default=50, help="of one client; 4 and 8 times as many of 16 and 128")
    parser.add_argument("--precision", default="int8")
    parser.add_argument("--encdec", type=Path, default=TOOLS.parent / "build/release/bin/encdec")
    parser.add_argument("--python", action="append", default=[], metavar="ENGINE=PYTHON")
    options = parser.parse_args()
    options.python = dict(each.split("=", 1) for each in options.python)
    print("| kind | clients | server | requests/s | median s | 99 % s | ratio |\n|---|---:|---|---:|---:|---:|---:|")
    for kind in options.kinds:
        engines = [engine for engine in KINDS[kind] if engine in (options.engines or KINDS[kind])]
        rounds = {engine: [] for engine in engines}
        rates = []
        for engine in in_turns(engines, options.rounds):
            rounds[engine].append(measure(options, kind, engine))
            if engine == "encdec" and kind == "translation":
                rates.append(generate_rate(options))
        for clients in CLIENTS:
            for engine in engines:
                each = [results[clients] for results in rounds[engine]]
                own = [results[clients][0] for results in rounds["encdec"]]
                ratio = statistics.median(rate / mine for (rate, _), mine in zip(each, own))
                seconds = [value for _, values in each for value in values]
                rate = statistics.median(rate for rate, _ in each)
                row = f"{rate:.1f} | {statistics.median(seconds):.3f} | {percentile(seconds, 0.99):.3f} | {ratio:.3f}"
                print(f"| {kind} | {clients} | {engine} | {row} |", flush=True)
        if rates:
            print(f"| {kind} | | generate | {statistics.median(rates):.1f} | | | |", flush=True)


if __name__ == "__main__":
    main()
