"""asyncio: many tasks share one model, and cancelled requests are dropped."""

from __future__ import annotations

import asyncio
import gc
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import encdec
from fixtures import awaited


def test_tasks_get_what_they_would_get_alone(model: encdec.Model, words: list[str]) -> None:
    def options_of(number: int) -> dict[str, Any]:
        return [{}, {"num_beams": 4, "num_return_sequences": 2}, {"do_sample": True, "seed": number}, {"max_new_tokens": 3}][
            number % 4
        ]

    expected = [model.generate(words[number], **options_of(number)) for number in range(200)]
    assert awaited(*(model.agenerate(words[number], **options_of(number)) for number in range(200))) == expected


def test_lists_keep_their_order(model: encdec.Model, words: list[str]) -> None:
    sources = [*words[:60], "", words[0] * 3]
    assert asyncio.run(model.agenerate(sources, num_beams=2)) == model.generate(sources, num_beams=2)
    assert asyncio.run(model.agenerate([])) == []
    prefix = ["D AO1", None]
    assert asyncio.run(model.agenerate(["cat", "dog"], prefix=prefix)) == model.generate(["cat", "dog"], prefix=prefix)


def test_pieces_arrive_while_others_are_generated(model: encdec.Model, words: list[str]) -> None:
    async def text_of(word: str) -> str:
        return "".join([piece async for piece in model.astream(word)])

    assert awaited(*map(text_of, words[:50])) == model.translate(words[:50])


def test_errors_come_out_of_the_await(model: encdec.Model) -> None:
    for sources, options, error in [
        ("cat", {"num_beem": 1}, TypeError),
        ("cat", {"num_beams": 0}, encdec.ConfigError),
        ([[10**6]], {}, encdec.InputError),
        (["cat", None], {}, TypeError),
        (b"cat", {}, TypeError),
    ]:
        with pytest.raises(error):
            asyncio.run(model.agenerate(sources, **options))  # type: ignore[call-overload, arg-type]
    results = asyncio.run(model.agenerate(["cat", None, [10**6], "dog"], on_error="null"))
    assert [each and each.text for each in results] == ["K AE1 T", None, None, "D AO1 G"]


def test_cancelling_a_task_cancels_its_sources(model: encdec.Model, words: list[str]) -> None:
    async def cancel_soon() -> float:
        task = asyncio.create_task(model.agenerate(words * 5, num_beams=8))
        await asyncio.sleep(0.05)
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        start = time.monotonic()
        assert (await model.agenerate("cat"))[0].text == "K AE1 T"  # no other request is left in the queue
        return time.monotonic() - start

    assert asyncio.run(cancel_soon()) < 5


def test_a_thousand_cancelled_streams_leave_nothing_taken(model: encdec.Model) -> None:
    async def many() -> None:
        for number in range(1000):
            stream = model.astream("photography")
            if number % 2:
                await anext(stream)
            await stream.aclose()

    asyncio.run(many())
    files = len(os.listdir("/proc/self/fd"))
    asyncio.run(many())
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= files
    assert asyncio.run(model.agenerate("cat"))[0].text == "K AE1 T"


def test_the_loop_runs_meanwhile(model: encdec.Model, words: list[str]) -> None:
    async def count_beats() -> int:
        task = asyncio.create_task(model.agenerate(words[:400], num_beams=4))
        beats = 0
        while not task.done():
            await asyncio.sleep(0.002)
            beats += 1
        await task
        return beats

    assert asyncio.run(count_beats()) > 10


def test_loops_in_many_threads(model: encdec.Model) -> None:
    def run(_: int) -> list[str]:
        return [asyncio.run(model.agenerate("cat"))[0].text for _ in range(5)]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(run, range(8))) == [["K AE1 T"] * 5] * 8
