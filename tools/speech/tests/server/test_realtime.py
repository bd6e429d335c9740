"""Live transcription with OpenAI's own client, and with wrong messages."""

from __future__ import annotations

import asyncio
import base64
import json
import signal
import socket
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
from openai import AsyncOpenAI
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from serving import KEY, LIMITED, NUMBERS, Server, StartServer, running

UTTERANCES = [
    (0.0, 1.818, "three hundred and twelve"),
    (2.452, 3.866, "four two seven"),
    (3.892, 5.37, "play some music"),
    (6.004, 8.346, "set a timer for ten minutes"),
]
TEXTS = [text for _, _, text in UTTERANCES]
APPEND, COMMIT, CLEAR = (f"input_audio_buffer.{name}" for name in ("append", "commit", "clear"))
Event = dict[str, Any]


def sound(rate: int = 16_000) -> bytes:
    """Returns the bundled model's clips, with a second of silence after each, as 16-bit samples."""
    samples = []
    for clip in ("number", "pause", "timer"):
        with wave.open(str(NUMBERS / f"clips/{clip}.wav")) as file:
            samples += [numpy.frombuffer(file.readframes(file.getnframes()), numpy.int16), numpy.zeros(16_000)]
    whole = numpy.concatenate(samples)
    times = numpy.arange(len(whole) * rate // 16_000) * 16_000 / rate
    return numpy.interp(times, numpy.arange(len(whole)), whole).astype(numpy.int16).tobytes()


def append(audio: bytes) -> str:
    return json.dumps({"type": APPEND, "audio": base64.b64encode(audio).decode()})


def update(**settings: Any) -> str:
    return json.dumps({"type": "session.update", "session": {"type": "transcription", "audio": {"input": settings}}})


PCM_16K = {"type": "audio/pcm", "rate": 16_000}


@pytest.fixture(scope="module")
def live() -> Iterator[Server]:
    with running("--model", f"numbers={NUMBERS}") as server:
        yield server


def address(server: Server) -> str:
    return server.url.replace("http", "ws") + "/v1/realtime?intent=transcription"


async def events_until(socket: ClientConnection, kind: str, count: int = 1) -> list[Event]:
    events: list[Event] = []
    while count > 0:
        events.append(json.loads(await asyncio.wait_for(socket.recv(), 60)))
        count -= events[-1]["type"].endswith(kind)
    return events


async def answers(server: Server, *messages: str | bytes, count: int = 1) -> list[Event]:
    async with connect(address(server)) as socket:
        await events_until(socket, "session.created")
        for message in messages:
            await socket.send(message)
        return [json.loads(await asyncio.wait_for(socket.recv(), 60)) for _ in range(count)]


def status_and_protocol(server: Server, **options: Any) -> tuple[int, str | None]:
    async def run() -> tuple[int, str | None]:
        try:
            async with connect(address(server), **options) as session:
                return 101, session.subprotocol
        except InvalidStatus as refused:
            return refused.response.status_code, None

    return asyncio.run(run())


async def transcripts(server: Server, piece: int) -> list[tuple[float, float, str]]:
    """Sends audio in chunks of at most `piece` bytes, and returns the utterances."""
    async with connect(address(server)) as socket:
        await socket.send(update(format=PCM_16K))
        audio, sizes = sound() + bytes(16_000), numpy.random.default_rng(piece)
        while audio:
            size = int(sizes.integers(1, piece))
            await socket.send(append(audio[:size]))
            audio = audio[size:]
        events = await events_until(socket, "transcription.completed", len(TEXTS))
    times: dict[str, list[float]] = {}
    found = []
    for event in events:
        if "audio_start_ms" in event:
            times[event["item_id"]] = [event["audio_start_ms"] / 1000]
        elif "audio_end_ms" in event:
            times[event["item_id"]].append(event["audio_end_ms"] / 1000)
        elif event["type"].endswith("completed"):
            found.append((*times[event["item_id"]], event["transcript"]))
    return found


def test_openai_client(live: Server) -> None:
    async def run() -> list[Event]:
        client = AsyncOpenAI(base_url=f"{live.url}/v1", api_key="none")
        async with client.realtime.connect(model="whisper-1") as connection:
            await connection.session.update(
                session={"type": "transcription", "audio": {"input": {"turn_detection": {"type": "semantic_vad"}}}}
            )
            audio = sound(24_000)
            for i in range(0, len(audio), 4_800):
                await connection.input_audio_buffer.append(audio=base64.b64encode(audio[i : i + 4_800]).decode())
            await connection.input_audio_buffer.commit(event_id="last")
            await connection.input_audio_buffer.clear()
            events = []
            done = 0
            async for event in connection:
                events.append(event.model_dump())
                done += event.type == "conversation.item.done"
                if done == len(TEXTS) + 1 and "input_audio_buffer.cleared" in (e["type"] for e in events):
                    return events
        raise AssertionError(events)

    events = asyncio.run(run())
    assert [event["type"] for event in events[:2]] == ["session.created", "session.updated"]
    completed = [event for event in events if event["type"].endswith("transcription.completed")]
    assert [event["transcript"] for event in completed] == [*TEXTS, ""]
    committed = [event for event in events if event["type"] == "input_audio_buffer.committed"]
    assert [event["item_id"] for event in committed] == [event["item_id"] for event in completed]
    assert [event["previous_item_id"] for event in committed] == [None, *(e["item_id"] for e in committed[:-1])]
    for event in completed:
        deltas = [e["delta"] for e in events if e["type"].endswith(".delta") and e["item_id"] == event["item_id"]]
        assert "".join(deltas) == event["transcript"]
        of_item = [e for e in events if event["item_id"] in (e.get("item_id"), (e.get("item") or {}).get("id"))]
        kinds = [e["type"].rpartition(".")[2] for e in of_item]
        kinds = [kind for kind in kinds if kind != "delta"]
        spoken = ["speech_started", "speech_stopped"] if event["transcript"] else []
        assert kinds == [*spoken, "committed", "added", "completed", "done"]


def test_packets_do_not_matter(live: Server) -> None:
    async def run() -> list[list[tuple[float, float, str]]]:
        return list(await asyncio.gather(*(transcripts(live, size) for size in [1_281, 3_001, 32_000, 100_000] * 2)))

    for found in asyncio.run(run()):
        assert [text for _, _, text in found] == TEXTS
        for one, other in zip(found, UTTERANCES, strict=True):
            assert one[:2] == pytest.approx(other[:2], abs=0.001)


def test_the_client_ends_utterances(live: Server) -> None:
    async def run() -> list[Event]:
        async with connect(address(live)) as socket:
            await socket.send(update(format={"type": "audio/pcmu"}, turn_detection=None))
            await socket.send(append(b"\xff" * 8_000))
            await socket.send(json.dumps({"type": COMMIT}))
            await socket.send(json.dumps({"type": COMMIT, "event_id": "again"}))
            return await events_until(socket, "error")

    events = asyncio.run(run())
    kinds = [event["type"] for event in events]
    assert "input_audio_buffer.committed" in kinds
    assert "input_audio_buffer.speech_started" not in kinds
    error = events[-1]["error"]
    assert (error["code"], error["event_id"]) == ("input_audio_buffer_commit_empty", "again")


@pytest.mark.parametrize(
    "message, part",
    [
        ("hello", "not valid JSON"),
        (b"\0\1", "a binary message"),
        ("[1]", "expected a JSON object"),
        ("{}", "expected an event of transcription sessions"),
        (json.dumps({"type": "response.create"}), "'type' is 'response.create'"),
        (json.dumps({"type": APPEND, "audio": "***"}), "expected base64"),
        (json.dumps({"type": APPEND, "audio": 7}), "expected base64"),
        (json.dumps({"type": "session.update", "session": 7}), "'session' is number, expected a JSON object"),
        (update(format={"type": "audio/mp3"}), "'type' is 'audio/mp3', expected audio/pcm"),
        (update(format={"type": "audio/pcm", "rate": 7}), "'rate' is 7, expected an integer from 8000"),
        (update(transcription={"language": "xx"}), "numbers/model.safetensors: language 'xx'"),
        (update(turn_detection={"type": "server_vad", "threshold": 7}), "threshold is 7, expected a number from 0 to 1"),
        (update(turn_detection={"type": "guess"}), "'type' is 'guess', expected server_vad"),
    ],
)
def test_wrong_messages(live: Server, message: str | bytes, part: str) -> None:
    """A wrong message is answered with an error, and the session continues."""
    error, cleared = asyncio.run(answers(live, message, json.dumps({"type": CLEAR}), count=2))
    assert error["type"] == "error"
    assert error["error"]["type"] == "invalid_request_error"
    assert part in error["error"]["message"]
    assert cleared["type"] == "input_audio_buffer.cleared"


def test_messages_have_a_limit(live: Server) -> None:
    with pytest.raises(ConnectionClosed) as closed:
        asyncio.run(answers(live, append(bytes(4 << 20))))
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 1009


def test_an_ordinary_request_is_refused(live: Server) -> None:
    with socket.create_connection(("127.0.0.1", live.port)) as client:
        client.sendall(b"GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert client.recv(12) == b"HTTP/1.1 426"


def test_pages_of_other_sites_are_refused(live: Server) -> None:
    assert status_and_protocol(live, origin=live.url) == (101, None)
    assert status_and_protocol(live, origin="http://other.example") == (401, None)
    assert status_and_protocol(live, origin="null") == (401, None)


def test_keys(start_server: StartServer, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text(KEY)
    with start_server("--model", f"numbers={NUMBERS}", "--api-key-file", str(tmp_path / "keys")) as server:
        assert status_and_protocol(server) == (401, None)
        assert status_and_protocol(server, additional_headers={"Authorization": "Bearer wrong"}) == (401, None)
        assert status_and_protocol(server, additional_headers={"Authorization": f"Bearer {KEY}"}) == (101, None)
        protocols = ["realtime", f"openai-insecure-api-key.{KEY}"]
        assert status_and_protocol(server, subprotocols=protocols) == (101, "realtime")


def test_sessions_have_limits() -> None:
    limits = [f"model=numbers={NUMBERS}", "--max-live-sessions=2", "--live-idle-timeout=1"]

    async def run(server: Server) -> Event:
        async with connect(address(server)) as first:
            # A client may use three quarters of the sessions, which is one here.
            with pytest.raises(InvalidStatus) as refused:
                await connect(address(server))
            assert refused.value.response.status_code == 429
            event = (await events_until(first, "error"))[-1]
            with pytest.raises(ConnectionClosed) as closed:
                await first.recv()
            assert closed.value.rcvd is not None and closed.value.rcvd.code == 1008
        async with connect(address(server)):
            return event

    with running(*limits, program=LIMITED) as server:
        assert asyncio.run(run(server))["error"]["code"] == "session_idle"


def test_unknown_settings_are_not_kept(live: Server) -> None:
    async def run() -> Event:
        async with connect(address(live)) as session:
            others = {f"key{i}": i for i in range(50_000)}
            for settings in ({"transcription": others | {"language": "en"}}, others, {"format": PCM_16K | others}):
                await session.send(update(**settings))
            return (await events_until(session, "session.updated", 3))[-1]

    settings = asyncio.run(run())["session"]["audio"]["input"]
    assert settings["format"] == PCM_16K
    assert settings["transcription"] == {"model": "numbers", "language": "en", "prompt": ""}
    assert sorted(settings) == ["format", "noise_reduction", "transcription", "turn_detection"]


def test_one_message_with_minutes_of_sound(live: Server) -> None:
    async def run() -> list[str]:
        async with connect(address(live), max_size=None) as session:
            await session.send(update(format=PCM_16K))
            await session.send(append(sound() * 5))
            events = await events_until(session, "transcription.completed", 5 * len(TEXTS))
            return [event["transcript"] for event in events if "transcript" in event]

    assert asyncio.run(run()) == TEXTS * 5


def test_sigterm_gives_texts_first(start_server: StartServer) -> None:
    async def run(server: Server) -> list[Event]:
        async with connect(address(server)) as session:
            await session.send(update(format=PCM_16K))
            await session.send(append(sound()[: 2 * 30_000]))
            events = await events_until(session, "speech_started")
            server.process.send_signal(signal.SIGTERM)
            while True:
                try:
                    events.append(json.loads(await session.recv()))
                except ConnectionClosed as closed:
                    assert closed.rcvd is not None and closed.rcvd.code == 1001
                    return events

    with start_server("--model", f"numbers={NUMBERS}") as server:
        events = asyncio.run(run(server))
    completed = [event["transcript"] for event in events if event["type"].endswith("transcription.completed")]
    assert completed == [TEXTS[0]]


def test_clients_that_vanish(live: Server) -> None:
    """Clients disconnect at every stage; the server continues."""

    async def leave(size: int) -> None:
        session = await connect(address(live))
        await session.send(update(format=PCM_16K))
        await session.send(append(sound()[:size]))
        session.transport.abort()

    async def run() -> None:
        for size in range(0, 160_000, 4_000):
            await leave(size)

    asyncio.run(run())
    assert [text for _, _, text in asyncio.run(transcripts(live, 32_000))] == TEXTS
