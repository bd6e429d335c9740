"""Runs hostile clients beside ordinary ones for a given time: python tests/serve/soak.py [SECONDS] [SEED] [PROGRAM]

Ordinary clients request texts, beams, samples, streams, alignments, HTML, files, embeddings and transcripts, or
transcribe live, without a pause. They compare each answer with the one that they got when there were no other clients.

Hostile clients:
- send the same requests and disconnect, let the time limit pass, or do not read the answer,
- send noise and damaged requests,
- reset their connections,
- send one byte at a time,
- run in processes with 200 connections each, which are killed,
- break sessions of live transcription: damaged frames, JSON and base64, floods, no reader, half of a message.

The log goes to a full disk. Prints the number of requests, memory and open files ten times, and at the end the times of
/health. The server gets SIGTERM while all clients send requests. It must end in time, and no answer may be cut.
Exits with status 1 if an answer was wrong or cut, or if the server did not end by itself.
"""

from __future__ import annotations

import asyncio
import base64
import io
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
import wave
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/golden"))
from packed import unpacked  # noqa: E402

PRONUNCIATION = ROOT / "models/pretrained/english-pronunciation"
EMBEDDER = unpacked(ROOT / "tools/encoders/tests/golden/sentence_transformers/mean_normalized") / "model"
WHISPER = ROOT / "tests/golden/whisper_formats/hugging_face"
NUMBERS = ROOT / "models/pretrained/english-numbers"
UPGRADE = (
    b"GET /v1/realtime?model=english-numbers HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
DRAIN_SECONDS = 30
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


def message(path: str, body: bytes, headers: str = "", content_type: str = "application/json") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    return head.encode() + body


def json_message(path: str, body: object, headers: str = "") -> bytes:
    return message(path, json.dumps(body).encode(), headers)


def form_message(path: str, fields: dict[str, str], name: str, content: bytes, headers: str = "") -> bytes:
    """Returns a request with a multipart form that has a file."""
    parts = [f'--b\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n' for key, value in fields.items()]
    parts.append(f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n')
    body = "".join(parts).encode() + content + b"\r\n--b--\r\n"
    return message(path, body, headers, "multipart/form-data; boundary=b")


def noise(seconds: float, seed: int) -> bytes:
    samples = random.Random(seed).randbytes(2 * int(16_000 * seconds))
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(16_000)
        writer.writeframes(samples)
    return file.getvalue()


def good_requests(headers: str = "") -> list[tuple[str, bytes]]:
    """Returns a request of each kind. The answer to each is always the same."""

    def generate(inputs: object, parameters: dict[str, object], **others: object) -> bytes:
        body = {"model": "english-pronunciation", "inputs": inputs, "parameters": parameters, **others}
        return json_message("/v1/generate", body, headers)

    page = "<p>cat <b>dog</b> <a href=x>photography</a></p><p>attention</p>"
    requests = [("text", generate(word, {})) for word in WORDS[:4]]
    requests += [
        ("texts", generate(WORDS, {"max_new_tokens": 30})),
        ("beams", generate(WORDS[:5], {"num_beams": 4, "num_return_sequences": 2})),
        ("samples", generate(WORDS[:5], {"do_sample": True, "seed": 7, "num_return_sequences": 3})),
        ("scores", generate(WORDS[:3], {"num_beams": 2, "top_log_probs": 20}, token_scores=True)),
        ("stream", generate("photography", {"min_new_tokens": 20, "max_new_tokens": 20}, stream=True)),
        ("alignment", generate(WORDS[:3], {}, alignment=True)),
        ("html", json_message("/translate", {"q": page, "source": "en", "target": "arpabet", "format": "html"}, headers)),
        ("embedding", json_message("/embed", {"inputs": ["a few words", "and some more of them"]}, headers)),
        ("file", form_message("/translate_file", {"source": "en", "target": "arpabet"}, "a.txt", b"cat\ndog\n", headers)),
    ]
    for seconds in (0.3, 1.7):
        fields = {"response_format": "verbose_json", "word_timestamps": "true"}
        sound = noise(seconds, seed=int(10 * seconds))
        requests.append(("recording", form_message("/v1/audio/transcriptions", fields, "a.wav", sound, headers)))
    return requests


def speech() -> bytes:
    """Returns two utterances with pauses: 16-bit samples at 16 kHz."""
    with wave.open(str(NUMBERS / "clips/pause.wav")) as reader:
        return bytes(16_000) + reader.readframes(reader.getnframes()) + bytes(32_000)


def frame(data: bytes, first: int = 0x81) -> bytes:
    """Returns a frame of a WebSocket client; `first` has its flags and opcode. The mask is zero."""
    size = len(data)
    if size < 126:
        length = bytes([0x80 | size])
    elif size < 65536:
        length = b"\xfe" + struct.pack(">H", size)
    else:
        length = b"\xff" + struct.pack(">Q", size)
    return bytes([first]) + length + bytes(4) + data


def event(kind: str, **fields: object) -> bytes:
    return frame(json.dumps({"type": kind, **fields}).encode())


def append(samples: bytes) -> bytes:
    return event("input_audio_buffer.append", audio=base64.b64encode(samples).decode())


PCM = {"audio": {"input": {"format": {"type": "audio/pcm", "rate": 16000}}}}


class Soak:
    def __init__(self, path: str, seed: int) -> None:
        self.path = path
        self.random = random.Random(seed)
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.health: list[float] = []
        self.expected: dict[bytes, bytes] = {}
        self.is_ending = False

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_unix_connection(self.path)

    async def ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, data: bytes) -> tuple[int, bytes]:
        writer.write(data)
        head = await reader.readuntil(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if line)
        status = int(head[9:12])
        if b"content-length" in fields:
            return status, await reader.readexactly(int(fields[b"content-length"]))
        body = b""
        while size := int(await reader.readline(), 16):
            body += await reader.readexactly(size)
            await reader.readexactly(2)
        await reader.readexactly(2)
        return status, body

    async def answer(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kind: str, data: bytes
    ) -> tuple[int, bytes]:
        """Returns the answer to a good request. For a translated file, fetches the file and returns it."""
        status, answer = await self.ask(reader, writer, data)
        if kind == "file" and status == 200:
            path = json.loads(answer)["translatedFileUrl"].removeprefix("http://x")
            status, answer = await self.ask(reader, writer, f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        return status, answer

    async def ordinary(self, until: float) -> None:
        reader, writer = await self.open()
        try:
            while time.monotonic() < until:
                kind, data = self.random.choice(good_requests())
                status, answer = await self.answer(reader, writer, kind, data)
                if status == 429:
                    await asyncio.sleep(0.05)
                elif status == 503 and self.is_ending:
                    return
                elif status != 200 or answer != self.expected[data]:
                    self.wrong.append(f"{kind}: {status} {answer[:200]!r}")
                self.done[kind] += 1
        except (asyncio.IncompleteReadError, OSError) as error:
            # While the server ends, a late request may get no answer, but never a part of one.
            if not self.is_ending or (isinstance(error, asyncio.IncompleteReadError) and error.partial):
                self.wrong.append(f"cut: {error!r}")
        writer.close()

    async def leave(self, until: float) -> None:
        """Sends ordinary requests. Disconnects before the answer, or sets a short timeout and waits for the answer."""
        while time.monotonic() < until:
            way = self.random.choice(["leave", "time", "deaf"])
            limit = f"X-Request-Timeout-Ms: {self.random.randint(1, 60)}\r\n" if way == "time" else ""
            _, data = self.random.choice(good_requests(limit))
            try:
                reader, writer = await self.open()
                if way == "time":
                    status, answer = await self.ask(reader, writer, data)
                    if status not in (200, 429, 503, 504):
                        self.wrong.append(f"{way}: {status} {answer[:200]!r}")
                else:
                    writer.write(data)
                    await asyncio.sleep(self.random.random() * (0.05 if way == "leave" else 0.5))
                writer.transport.abort()
            except (OSError, asyncio.IncompleteReadError):
                pass
            self.done[way] += 1

    async def listen(self, until: float) -> None:
        """Transcribes live in pieces of any size, again and again. The texts must be those of the clip each time."""
        sound = speech()
        while time.monotonic() < until and not self.is_ending:
            reader, writer = await self.open()
            try:
                writer.write(UPGRADE)
                if b" 101 " not in await reader.readuntil(b"\r\n\r\n"):
                    await asyncio.sleep(0.05)  # too many sessions
                    continue
                writer.write(event("session.update", session=PCM))
                place = 0
                while place < len(sound):
                    size = self.random.choice([1, 331, 3200, 32_000])
                    writer.write(append(sound[place : place + size]))
                    place += size
                    await writer.drain()
                found: list[str] = []
                while len(found) < 2:
                    first, size = await reader.readexactly(2)
                    if size == 126:
                        size = int.from_bytes(await reader.readexactly(2), "big")
                    answer = await reader.readexactly(size)
                    if first == 0x81 and (told := json.loads(answer))["type"].endswith("transcription.completed"):
                        found.append(told["transcript"])
                if found != ["four two seven", "play some music"]:
                    self.wrong.append(f"live: {found}")
                self.done["listen"] += 1
            except (OSError, asyncio.IncompleteReadError) as error:
                if not self.is_ending:
                    self.wrong.append(f"live: {error!r}")
            finally:
                writer.transport.abort()

    def broken_session(self) -> bytes:
        """Returns what a hostile client sends after the upgrade."""
        dice, sound = self.random, speech()
        start = event("session.update", session=PCM)
        whole = start + b"".join(append(sound[i : i + 4000]) for i in range(0, len(sound), 4000))
        return dice.choice(
            [
                whole,
                whole[: dice.randrange(len(whole))],
                dice.randbytes(dice.randint(1, 3000)),
                whole[:100] + dice.randbytes(100) + whole,
                frame(b"\xff\xfe"),
                b"\x81\x05hello",
                frame(b"x", 0xF1),
                b"\x81\xff" + b"\x7f" + b"\xff" * 7 + bytes(8),
                frame(b'{"type":', 0x01) + frame(b'"input_audio', 0x00) * dice.randint(1, 500),
                frame(b"a" * 125, 0x89) * dice.randint(1, 2000),
                event("session.update", session={"audio": {"input": {"turn_detection": None}}}) * dice.randint(1, 200),
                start + append(bytes(16_000)) + event("input_audio_buffer.commit") * dice.randint(1, 200),
                start + (append(sound) + event("input_audio_buffer.clear")) * dice.randint(1, 5),
                frame(b'{"type":"input_audio_buffer.append","audio":"***"}') * dice.randint(1, 200),
                frame(b"[" * 100_000),
                event("input_audio_buffer.append", audio="A" * 6_000_000),
                start + append(sound[:1]) * dice.randint(1, 2000),
                start + append(dice.randbytes(200_000)) * 3,
                frame(b"\x03\xe8", 0x88),
            ]
        )

    async def break_sessions(self, until: float) -> None:
        while time.monotonic() < until:
            try:
                await asyncio.wait_for(self.break_session(), 3)
            except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
                pass
            self.done["session"] += 1

    async def break_session(self) -> None:
        reader, writer = await self.open()
        writer.write(UPGRADE)
        if self.random.random() < 0.9:
            await reader.readuntil(b"\r\n\r\n")
        writer.write(self.broken_session())
        try:
            way = self.random.random()
            if way < 0.4:
                await asyncio.sleep(self.random.random() * 0.1)
            elif way < 0.7:
                await asyncio.wait_for(reader.read(self.random.randint(1, 3000)), 0.5)
            elif way < 0.8:
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        finally:
            writer.transport.abort()

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
        """Starts processes that send 200 requests each, stops them, and kills them."""
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
        reader, writer = await self.open()
        while (await self.ask(reader, writer, b"GET /ready HTTP/1.1\r\nHost: x\r\n\r\n"))[0] != 200:
            await asyncio.sleep(0.05)
        for kind, data in good_requests():
            status, self.expected[data] = await self.answer(reader, writer, kind, data)
            assert status == 200, (kind, status, self.expected[data])
        writer.close()
        until = time.monotonic() + seconds
        ordinary = [asyncio.create_task(self.ordinary(until + 2 * DRAIN_SECONDS)) for _ in range(4)]
        tasks = [asyncio.create_task(self.leave(until)) for _ in range(6)]
        tasks += [asyncio.create_task(self.hostile(until)) for _ in range(4)]
        tasks += [asyncio.create_task(self.break_sessions(until)) for _ in range(4)]
        tasks.append(asyncio.create_task(self.listen(until)))
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
        self.is_ending = True
        os.kill(process, signal.SIGTERM)
        await asyncio.gather(*ordinary)


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600
    soak_seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    program = sys.argv[3] if len(sys.argv) > 3 else str(ROOT / "build/release/bin/encdec")
    with tempfile.TemporaryDirectory() as folder, open("/dev/full", "wb") as full:
        path = f"{folder}/socket"
        command = [program, "serve", "--log-json", "--host", "", "--unix", path, "--threads", "1", "--workers", "2"]
        command += ["--max-live-sessions", "6"]
        for model in (PRONUNCIATION, EMBEDDER, WHISPER, NUMBERS):
            command += ["--model", str(model)]
        command += ["--drain-timeout", str(DRAIN_SECONDS)]
        server = subprocess.Popen(command, stderr=full)
        while not Path(path).exists():
            time.sleep(0.05)
        soak = Soak(path, soak_seed)
        asyncio.run(soak.run(seconds, server.pid))
        status = server.wait(DRAIN_SECONDS + 5)
    health = sorted(soak.health)
    middle, worst = health[len(health) // 2], health[int(len(health) * 0.99)]
    print(dict(soak.done))
    print(f"/health: median {middle * 1000:.1f} ms, 99 % {worst * 1000:.1f} ms, longest {health[-1] * 1000:.1f} ms")
    print(f"status {status}, {len(soak.wrong)} wrong answers: {soak.wrong[:3]}")
    return 0 if status == 0 and not soak.wrong else 1


if __name__ == "__main__":
    sys.exit(main())
