"""Runs hostile clients beside ordinary ones for a given time: python tests/serve/soak.py [SECONDS] [SEED] [PROGRAM]

The tests try each of these clients alone; this program runs all of them together, for as long as you like. Ordinary
clients compare each answer with the one that they got when there were no other clients. Hostile clients send whole and
damaged requests and sessions of live transcription; they disconnect, reset their connections, do not read the answer,
or send one byte at a time.

The log goes to a full disk. Prints the number of requests, memory and open files ten times, and at the end the longest
time of /health. The server gets SIGTERM while ordinary clients send requests: it must end in time, and no answer may be
cut. Exits with status 1 if an answer was wrong or cut, or if the server did not end by itself.
"""

from __future__ import annotations

import asyncio
import base64
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
sys.path.insert(0, str(ROOT / "tests/golden"))
from packed import unpacked  # noqa: E402

NUMBERS = ROOT / "models/pretrained/english-numbers"
MODELS = [ROOT / "models/pretrained/english-pronunciation", NUMBERS]
MODELS.append(unpacked(ROOT / "tools/encoders/tests/golden/sentence_transformers/mean_normalized") / "model")
WORDS = "attention world serendipity cat dog photography pronunciation network translate photographs".split()
CLIP = (NUMBERS / "clips/pause.wav").read_bytes()
DRAIN_SECONDS = 30


def message(path: str, body: object, content_type: str = "application/json") -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {content_type}\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data


def generate(inputs: object, parameters: dict[str, object], **others: object) -> bytes:
    return message("/v1/generate", {"inputs": inputs, "parameters": parameters, **others})


HEALTH = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
LONG = generate([[1, 2, 3]], {"min_new_tokens": 100, "max_new_tokens": 100})
FORM = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n' + CLIP + b"\r\n--b--\r\n"
# The answer to each is always the same.
REQUESTS = [
    HEALTH,
    LONG,
    generate("photography", {}),
    generate(WORDS, {"max_new_tokens": 30}),
    generate(WORDS[:5], {"num_beams": 4, "num_return_sequences": 2}, alignment=True),
    generate(WORDS[:5], {"do_sample": True, "seed": 7, "num_return_sequences": 3}),
    generate(WORDS[:3], {"num_beams": 2, "top_log_probs": 20}, token_scores=True),
    generate("photography", {"min_new_tokens": 20, "max_new_tokens": 20}, stream=True),
    message("/translate", {"q": "<p>cat <b>dog</b></p>", "source": "en", "target": "arpabet", "format": "html"}),
    message("/v2/translate", {"text": WORDS, "target_lang": "ARPABET"}),
    message("/embed", {"inputs": ["a few words", "and some more of them"]}),
    message("/v1/audio/transcriptions", FORM, "multipart/form-data; boundary=b"),
]


def frame(data: bytes, first: int = 0x81) -> bytes:
    """Returns a frame of a WebSocket client; `first` has its flags and opcode. The mask is zero."""
    size = len(data)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack(">H", size)
    return bytes([first]) + length + bytes(4) + data


def event(kind: str, **fields: object) -> bytes:
    return frame(json.dumps({"type": kind, **fields}).encode())


UPGRADE = (
    b"GET /v1/realtime?model=english-numbers HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
PCM = {"audio": {"input": {"format": {"type": "audio/pcm", "rate": 16000}}}}
SOUND = event("session.update", session=PCM) + b"".join(
    event("input_audio_buffer.append", audio=base64.b64encode(CLIP[i : i + 4000]).decode())
    for i in range(44, len(CLIP), 4000)
)
SESSIONS = [
    SOUND,
    SOUND + event("input_audio_buffer.commit") * 200,
    SOUND + event("input_audio_buffer.clear") + SOUND,
    frame(b"\xff\xfe"),
    frame(b"x", 0xF1),
    frame(b"[" * 60_000),
    frame(b"a" * 125, 0x89) * 2000,
    b"\x81\xff" + b"\x7f" + b"\xff" * 7 + bytes(8),
    frame(b'{"type":', 0x01) + frame(b'"input_audio', 0x00) * 500,
]


class Soak:
    def __init__(self, path: str, seed: int) -> None:
        self.path = path
        self.random = random.Random(seed)
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.longest = 0.0  # seconds of an answer to HEALTH
        self.expected: dict[bytes, bytes] = {}
        self.is_ending = False

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_unix_connection(self.path)

    async def ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, data: bytes) -> tuple[int, bytes]:
        writer.write(data)
        head = await reader.readuntil(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if line)
        if b"content-length" in fields:
            return int(head[9:12]), await reader.readexactly(int(fields[b"content-length"]))
        body = b""
        while size := int(await reader.readline(), 16):
            body += await reader.readexactly(size)
            await reader.readexactly(2)
        await reader.readexactly(2)
        return int(head[9:12]), body

    async def ordinary(self) -> None:
        """Sends requests until the server ends."""
        reader, writer = await self.open()
        try:
            while True:
                data, begin = self.random.choice(REQUESTS), time.monotonic()
                status, answer = await self.ask(reader, writer, data)
                if data == HEALTH:
                    self.longest = max(self.longest, time.monotonic() - begin)
                if status == 429:
                    await asyncio.sleep(0.05)
                elif status == 503 and self.is_ending:
                    break
                elif status != 200 or answer != self.expected[data]:
                    self.wrong.append(f"{status} {answer[:200]!r} to {data[:300]!r}")
                self.done["ordinary"] += 1
        except (asyncio.IncompleteReadError, OSError) as error:
            # While the server ends, a late request may get no answer, but never a part of one.
            if not self.is_ending or (isinstance(error, asyncio.IncompleteReadError) and error.partial):
                self.wrong.append(f"cut: {error!r}")
        writer.close()

    def damaged(self, whole: bytes) -> bytes:
        data, dice = whole[: self.random.randint(1, len(whole))], self.random
        for _ in range(dice.randint(1, 8)):
            position = dice.randrange(len(data) + 1)
            inserted = [b"", dice.randbytes(1), data[:50], b"\r\n", b"\0", b"[" * 200, b"9" * 40, b"%00", b"chunked"]
            data = data[:position] + dice.choice(inserted) + data[position + dice.choice([0, 1, 20]) :]
        return data

    async def attack(self, way: str) -> None:
        reader, writer = await self.open()
        session = self.random.choice(SESSIONS)
        whole = self.random.choice([*REQUESTS, UPGRADE + session, UPGRADE + self.damaged(session)])
        data = whole if self.random.random() < 0.5 else self.damaged(whole)
        try:
            if way == "slow":
                for byte in data[:40]:
                    writer.write(bytes([byte]))
                    await asyncio.sleep(0.01)
            elif way == "deaf":
                writer.write(data * 50)
                await asyncio.sleep(0.5)
            elif way == "late":
                limit = b"\r\nX-Request-Timeout-Ms: %d\r\n" % self.random.randint(1, 60)
                await self.ask(reader, writer, self.random.choice(REQUESTS).replace(b"\r\n", limit, 1))
            else:
                writer.write(data)
                if way == "reads":
                    writer.write_eof()
                    await reader.read()
                elif way == "reset":
                    linger = struct.pack("ii", 1, 0)
                    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                else:
                    await asyncio.sleep(self.random.random() * 0.1)
        finally:
            writer.transport.abort()

    async def hostile(self, until: float) -> None:
        while time.monotonic() < until:
            way = self.random.choice(["slow", "deaf", "late", "reads", "reset", "leaves"])
            try:
                await asyncio.wait_for(self.attack(way), 5)
            except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError, asyncio.LimitOverrunError):
                pass
            self.done[way] += 1

    async def run(self, seconds: float, process: int) -> None:
        reader, writer = await self.open()
        while (await self.ask(reader, writer, HEALTH.replace(b"health", b"ready")))[0] != 200:
            await asyncio.sleep(0.05)
        for data in REQUESTS:
            status, self.expected[data] = await self.ask(reader, writer, data)
            assert status == 200, (data[:300], status, self.expected[data])
        writer.close()
        until = time.monotonic() + seconds
        ordinary = [asyncio.create_task(self.ordinary()) for _ in range(4)]
        tasks = [asyncio.create_task(self.hostile(until)) for _ in range(12)]
        for _ in range(10):
            done, _ = await asyncio.wait(tasks, timeout=seconds / 10, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
            status_lines = Path(f"/proc/{process}/status").read_text().splitlines()
            kilobytes = next(int(line.split()[1]) for line in status_lines if line.startswith("VmRSS"))
            files = len(os.listdir(f"/proc/{process}/fd"))
            print(f"{sum(self.done.values())} done, {kilobytes / 1000:.0f} MB, {files} files", flush=True)
        await asyncio.gather(*tasks)
        self.is_ending = True
        os.kill(process, signal.SIGTERM)
        await asyncio.gather(*ordinary)


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    program = sys.argv[3] if len(sys.argv) > 3 else str(ROOT / "build/release/bin/encdec")
    with tempfile.TemporaryDirectory() as folder, open("/dev/full", "wb") as full:
        soak = Soak(f"{folder}/socket", seed)
        command = [program, "serve", "--log-json", "--host", "", "--unix", soak.path, "--threads", "1"]
        command += ["--workers", "2", "--max-live-sessions", "6", "--drain-timeout", str(DRAIN_SECONDS)]
        command += [word for model in MODELS for word in ("--model", str(model))]
        server = subprocess.Popen(command, stderr=full)
        while not Path(soak.path).exists():
            time.sleep(0.05)
        asyncio.run(soak.run(seconds, server.pid))
        status = server.wait(DRAIN_SECONDS + 5)
    print(f"{dict(soak.done)}; longest /health: {soak.longest * 1000:.1f} ms")
    print(f"status {status}, {len(soak.wrong)} wrong answers: {soak.wrong[:3]}")
    return 0 if status == 0 and not soak.wrong else 1


if __name__ == "__main__":
    sys.exit(main())
