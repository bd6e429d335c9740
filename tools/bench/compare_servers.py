#!/usr/bin/env python3
"""Compares encdec serve under load with FastAPI servers around other engines, with the same random models and requests.

  compare_servers.py --folder /tmp/peers --python ctranslate2=/opt/ct2/bin/python --python onnx=/opt/st/bin/python

The folder is that of compare_python.py, which makes the models (cells `tasks` and `embed`). In each round every server is started, gets
requests from 1, 16 and 128 clients, and is stopped; each round begins with another server. A client has one connection, and sends its next
request as soon as it has an answer. All servers get the same requests: texts of 6 to 40 words with results of 8 to 64 tokens, or one
sentence to embed.

Columns:
  requests/s        requests per second
  median s, 99 % s  median and 99th percentile of the seconds of a request
  ratio             requests per second / those of encdec in the same round; median over the rounds
The row `generate` is `encdec generate` on the same texts, in one process: an upper bound for servers.

Servers and clients share the machine's CPUs. Each engine's Python needs FastAPI and uvicorn.
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
REPOSITORY = TOOLS.parents[1]
CLIENTS = (1, 16, 128)
PORT = 18090
KINDS = {"translation": ("encdec", "ctranslate2"), "embedding": ("encdec", "onnx", "openvino")}


def requests_of(kind, folder, count):
    """Returns (text, tokens of the result) for each request."""
    words = (folder / "corpus.txt").read_text().split()
    rng = random.Random(5)
    if kind == "embedding":
        return [(text, 0) for text in sentences_of(folder)[:count]]
    return [(" ".join(rng.choices(words, k=rng.randint(6, 40))), rng.randint(8, 64)) for _ in range(count)]


def message(kind, engine, text, tokens):
    """Returns the bytes of a request."""
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
    """Sends messages, one after the other, until none is left."""
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
    """Sends all messages. Returns the seconds of the whole and of each request."""
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
    """Returns {clients: (requests per second, [seconds of each request])}."""
    process = start(options, kind, engine)
    try:
        results = {}
        for clients in CLIENTS:
            # Enough requests for each client to send several.
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
    """Returns the texts per second of `encdec generate`. Results have 36 tokens, the mean of the requests."""
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
    parser.add_argument("--engines", nargs="+", default=[], help="engines to measure; all if not given")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--requests", type=int, default=50, help="requests with one client; 16 and 128 clients send 4 and 8 times as many in all")
    parser.add_argument("--precision", default="int8")
    parser.add_argument("--encdec", type=Path, default=REPOSITORY / "build/release/bin/encdec")
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
