"""Hostile clients beside ordinary ones, for as long as wanted: python tests/serve/soak.py [SECONDS] [SEED] [PROGRAM]

Ordinary clients ask without a pause and compare every answer; others send noise and damaged requests, go away in the
middle, reset their connections, send one byte at a time, read nothing, or are processes of 200 connections that are
killed. The log goes to a full disk. Prints what was done, memory and open files after each tenth of the time, and how
long /health took; ends with status 1 where an answer was wrong or the server did not end by itself.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "models/pretrained/english-pronunciation"
WORDS = "attention world serendipity cat dog photography pronunciation network translate photographs".split()
PATHS = ["/v1/generate", "/translate", "/v1/completions", "/v2/translate", "/embed", "/", "/detect", "/metrics"]
BODIES = [
    {"inputs": WORDS, "parameters": {"num_beams": 4, "num_return_sequences": 2}, "alignment": True},
    {"inputs": "photography", "stream": True},
    {"q": "<p>cat <b>dog</b></p>", "source": "auto", "target": "arpabet", "format": "html", "alternatives": 3},
    {"prompt": ["cat", [3, 4, 5]], "temperature": 1.5, "n": 3, "logprobs": 5},
    {"text": WORDS, "target_lang": "ARPABET"},
    {"inputs": [[1, 2, 3]], "parameters": {"min_new_tokens": 100, "max_new_tokens": 100}},
]  # fmt: skip


def message(path: str, body: bytes, headers: str = "") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    return head.encode() + body


class Soak:
    def __init__(self, path: str, seed: int) -> None:
        self.path = path
        self.random = random.Random(seed)
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.health: list[float] = []
        self.expected: dict[str, str] = {}

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_unix_connection(self.path)

    async def ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, data: bytes) -> tuple[int, bytes]:
        writer.write(data)
        head = await reader.readuntil(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if line)
        return int(head[9:12]), await reader.readexactly(int(fields[b"content-length"]))

    async def ordinary(self, until: float) -> None:
        reader, writer = await self.open()
        while time.monotonic() < until:
            word = self.random.choice(WORDS)
            body = json.dumps({"inputs": word}).encode()
            status, answer = await self.ask(reader, writer, message("/v1/generate", body))
            if status == 429:
                await asyncio.sleep(0.05)
                continue
            text = json.loads(answer)["results"][0]["hypotheses"][0]["text"] if status == 200 else answer.decode()
            if text != self.expected.setdefault(word, text):
                self.wrong.append(f"{word}: {status} {text}")
            self.done["ordinary"] += 1
        writer.close()

    async def ask_health(self, until: float) -> None:
        reader, writer = await self.open()
        while time.monotonic() < until:
            begin = time.monotonic()
            status, _ = await self.ask(reader, writer, b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            self.health.append(time.monotonic() - begin)
            if status != 200:
                self.wrong.append(f"/health: {status}")
            await asyncio.sleep(0.05)
        writer.close()

    def damaged(self) -> bytes:
        data = bytearray(message(self.random.choice(PATHS), json.dumps(self.random.choice(BODIES)).encode()))
        for _ in range(self.random.randint(1, 8)):
            place = self.random.randrange(len(data))
            change = self.random.randrange(4)
            if change == 0:
                data[place] = self.random.randrange(256)
            elif change == 1:
                del data[place : place + self.random.randint(1, 20)]
            elif change == 2:
                data[place:place] = data[: self.random.randint(1, 50)]
            else:
                data[place:place] = self.random.choice([b"\r\n", b"\0", b"\xff", b"[" * 200, b"9" * 40, b"%00", b"chunked"])
            data = data or bytearray(b"x")
        return bytes(data)

    async def hostile(self, until: float) -> None:
        kinds = ["noise", "damaged", "gone", "reset", "slow", "deaf", "whole"]
        while time.monotonic() < until:
            kind = self.random.choice(kinds)
            try:
                await asyncio.wait_for(self.attack(kind), 5)
            except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError, asyncio.LimitOverrunError):
                pass
            self.done[kind] += 1

    async def attack(self, kind: str) -> None:
        reader, writer = await self.open()
        whole = message(self.random.choice(PATHS), json.dumps(self.random.choice(BODIES)).encode())
        try:
            if kind == "noise":
                writer.write(self.random.randbytes(self.random.randint(1, 3000)))
                writer.write_eof()
                await reader.read()
            elif kind == "damaged":
                writer.write(self.damaged())
                writer.write_eof()
                await reader.read()
            elif kind == "gone":
                writer.write(whole)
            elif kind == "reset":
                writer.write(whole[: self.random.randrange(len(whole))])
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            elif kind == "slow":
                for byte in whole[:40]:
                    writer.write(bytes([byte]))
                    await asyncio.sleep(0.01)
            elif kind == "deaf":
                for _ in range(50):
                    writer.write(whole)
                await asyncio.sleep(0.5)
            else:
                writer.write(whole)
                await reader.readuntil(b"\r\n\r\n")
        finally:
            writer.transport.abort()

    async def killed(self, until: float) -> None:
        """Processes with 200 requests each that are stopped, and then killed."""
        whole = message("/v1/generate", json.dumps(BODIES[5]).encode())
        code = (
            "import socket, sys, time\n"
            "sockets = [socket.socket(socket.AF_UNIX) for _ in range(200)]\n"
            "data = bytes.fromhex(sys.argv[2])\n"
            "for each in sockets:\n"
            "    each.connect(sys.argv[1])\n"
            "    each.sendall(data)\n"
            "print(flush=True)\n"
            "time.sleep(60)\n"
        )
        while time.monotonic() < until:
            process = subprocess.Popen([sys.executable, "-c", code, self.path, whole.hex()], stdout=subprocess.PIPE)
            assert process.stdout is not None
            await asyncio.to_thread(process.stdout.readline)
            process.send_signal(signal.SIGSTOP)
            await asyncio.sleep(1)
            process.kill()
            process.wait()
            process.stdout.close()
            self.done["killed"] += 200
            await asyncio.sleep(5)

    async def run(self, seconds: float, process: int) -> None:
        until = time.monotonic() + seconds
        tasks = [asyncio.create_task(self.ordinary(until)) for _ in range(4)]
        tasks += [asyncio.create_task(self.hostile(until)) for _ in range(8)]
        tasks += [asyncio.create_task(self.ask_health(until)), asyncio.create_task(self.killed(until))]
        for _ in range(10):
            done, _ = await asyncio.wait(tasks, timeout=seconds / 10, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
            status = Path(f"/proc/{process}/status").read_text()
            kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
            files = len(os.listdir(f"/proc/{process}/fd"))
            print(f"{sum(self.done.values())} done, {int(kilobytes) / 1000:.0f} MB, {files} files", flush=True)
        await asyncio.gather(*tasks)


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600
    soak_seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    program = sys.argv[3] if len(sys.argv) > 3 else str(ROOT / "build/release/bin/encdec")
    with tempfile.TemporaryDirectory() as folder, open("/dev/full", "wb") as full:
        path = f"{folder}/socket"
        command = [program, "serve", "--log-json", "--host", "", "--unix", path, "--threads", "1", "--model", str(MODEL)]
        server = subprocess.Popen([*command, "--header-timeout", "2", "--write-timeout", "2"], stderr=full)
        while not Path(path).exists():
            time.sleep(0.05)
        soak = Soak(path, soak_seed)
        time.sleep(1)
        asyncio.run(soak.run(seconds, server.pid))
        server.terminate()
        status = server.wait(60)
    health = sorted(soak.health)
    middle, worst = health[len(health) // 2], health[int(len(health) * 0.99)]
    print(dict(soak.done))
    print(f"/health: median {middle * 1000:.1f} ms, 99 % {worst * 1000:.1f} ms, longest {health[-1] * 1000:.1f} ms")
    print(f"status {status}, {len(soak.wrong)} wrong answers: {soak.wrong[:3]}")
    return 0 if status == 0 and not soak.wrong else 1


if __name__ == "__main__":
    sys.exit(main())
