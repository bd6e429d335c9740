"""Live transcription of the bundled model's clips."""

from __future__ import annotations

import asyncio
import threading
import wave
from typing import Any

import numpy
import pytest

import encdec
from fixtures import NUMBERS, awaited

TEXTS = ["three hundred and twelve", "four two seven", "play some music", "set a timer for ten minutes"]


@pytest.fixture(scope="module")
def numbers() -> encdec.Model:
    return encdec.open_model(NUMBERS)


@pytest.fixture(scope="module")
def sound() -> numpy.ndarray[Any, Any]:
    """The clips, with a second of silence after each."""
    pieces = []
    for clip in ("number", "pause", "timer"):
        with wave.open(str(NUMBERS / f"clips/{clip}.wav")) as file:
            pieces += [numpy.frombuffer(file.readframes(file.getnframes()), "<i2"), numpy.zeros(16_000, "<i2")]
    return numpy.concatenate(pieces)


def texts(session: encdec.LiveSession) -> list[str]:
    return [event.text for event in session if event.kind == "final"]


def test_forms_of_samples_do_not_matter(numbers: encdec.Model, sound: Any) -> None:
    floats = sound.astype("float32") / 32768
    for data, piece in ((sound, 320), (floats, 7_777), (floats.astype("float64"), 10**6), (sound.tobytes(), 641)):
        with numbers.live(partials=False) as session:
            for i in range(0, len(data), piece):
                session.feed(data[i : i + piece])
            session.finish()
            assert texts(session) == TEXTS


def test_final_events_have_a_transcript(numbers: encdec.Model, sound: Any) -> None:
    with numbers.live(word_timestamps=True, partials="always", step_ms=300) as session:
        session.feed(sound)
        session.finish()
        events = list(session)
    assert [event.kind for event in events].count("partial") > 4
    for event in events:
        if event.kind != "final":
            assert event.transcript is None
            continue
        assert event.transcript is not None
        words = [word for segment in event.transcript.segments for word in segment.words or ()]
        assert event.text == event.transcript.text.strip() == "".join(word.word for word in words).strip()
        assert event.start - 0.01 <= words[0].start < words[-1].end <= event.end


def test_the_caller_ends_utterances(numbers: encdec.Model, sound: Any) -> None:
    with numbers.live(finds_utterances=False) as session:
        assert not session.commit()
        session.feed(sound[:26_714])
        assert session.commit()
        session.feed(sound[:26_714])
        session.clear()
        assert not session.commit()
        session.finish()
        assert texts(session) == TEXTS[:1]


def test_threads_and_tasks(numbers: encdec.Model, sound: Any) -> None:
    def feed(session: encdec.LiveSession) -> None:
        for i in range(0, len(sound), 3_000):
            session.feed(sound[i : i + 3_000])
        session.finish()

    with numbers.live() as session:
        thread = threading.Thread(target=feed, args=[session])
        thread.start()
        assert texts(session) == TEXTS
        thread.join()

    async def listen() -> list[str]:
        async with numbers.live() as session:
            await asyncio.to_thread(feed, session)
            return [event.text async for event in session if event.kind == "final"]

    assert awaited(*(listen() for _ in range(4))) == [TEXTS] * 4


@pytest.mark.parametrize("end", ["finish", "close"])
def test_every_iteration_ends(numbers: encdec.Model, sound: Any, end: str) -> None:
    """Several threads and tasks that iterate share the events, and all of them end."""
    found: list[str] = []
    with numbers.live() as session:
        threads = [threading.Thread(target=lambda: found.extend(texts(session)), daemon=True) for _ in range(3)]
        for thread in threads:
            thread.start()
        session.feed(sound)
        getattr(session, end)()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
        assert end == "close" or sorted(found) == sorted(TEXTS)
        assert list(session) == []

    async def collect(session: encdec.LiveSession) -> list[str]:
        return [event.text async for event in session if event.kind == "final"]

    async def run() -> list[str]:
        async with numbers.live() as session:
            tasks = [asyncio.create_task(collect(session)) for _ in range(3)]
            await asyncio.sleep(0)
            session.feed(sound)
            getattr(session, end)()
            return sum(await asyncio.wait_for(asyncio.gather(*tasks), 60), [])

    heard = asyncio.run(run())
    assert end == "close" or sorted(heard) == sorted(TEXTS)


def test_wrong_use(numbers: encdec.Model) -> None:
    with pytest.raises(TypeError, match=r"live\(\) got an unexpected keyword argument 'stepms', did you mean 'step_ms'"):
        numbers.live(stepms=1)  # type: ignore[call-arg]
    with pytest.raises(encdec.ConfigError, match="step_ms is 1, expected"):
        numbers.live(step_ms=1)
    with pytest.raises(encdec.ConfigError, match="sample rate is 7, expected"):
        numbers.live(sampling_rate=7)
    with pytest.raises(encdec.ConfigError, match="beam_size is 0, expected"):
        numbers.live(beam_size=0)
    with numbers.live() as session:
        with pytest.raises(TypeError, match="samples of int64"):
            session.feed(numpy.zeros(5, "int64"))
        with pytest.raises(encdec.Error, match="a sample is nan"):
            session.feed(numpy.full(5, numpy.nan, "float32"))
        session.finish()
        with pytest.raises(encdec.InputError, match="the session is over"):
            session.feed(b"\0\0")
        assert list(session) == []
    with pytest.raises(encdec.InputError, match="the session is over"):
        session.feed(b"\0\0")
