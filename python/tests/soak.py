"""Does random work for a given time: python python/tests/soak.py [SECONDS] [SEED]

Loads, uses, awaits, cancels, streams, pickles and forks models in random order, and compares every result. Prints the
number of steps, memory, open files and threads ten times. Unpickled models stay in memory, one for each choice of
options. Ends with a traceback of all threads if one step takes a minute.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import gc
import os
import pickle
import random
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import encdec

FOLDER = Path(__file__).resolve().parents[2] / "models/pretrained/english-pronunciation"
WORDS = "attention world serendipity cat dog photography a pronunciation network translate".split()
OPTIONS: list[dict[str, object]] = [
    {},
    {"num_beams": 4},
    {"max_new_tokens": 3},
    {"do_sample": True, "seed": 7},
    {"num_beams": 2, "repetition_penalty": 1.2},
]
HANG_SECONDS = 60


class Soak:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.model = encdec.Model(FOLDER, threads=2)
        self.expected = {
            (word, index): self.model.translate(word, **options)  # type: ignore[call-overload]
            for word in WORDS
            for index, options in enumerate(OPTIONS)
        }
        self.done: Counter[str] = Counter()

    def pick(self) -> tuple[str, int]:
        return self.random.choice(WORDS), self.random.randrange(len(OPTIONS))

    def check(self, key: tuple[str, int], text: str) -> None:
        assert text == self.expected[key], (key, text)

    def call(self, model: encdec.Model) -> None:
        word, index = key = self.pick()
        self.check(key, model.translate(word, **OPTIONS[index]))  # type: ignore[call-overload]

    def renew(self) -> None:
        self.model = encdec.Model(FOLDER, threads=self.random.randint(1, 3), workers=self.random.randint(1, 3))

    def threads(self) -> None:
        threads = [threading.Thread(target=self.call, args=(self.model,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def stream(self) -> None:
        word, index = key = self.pick()
        pieces = self.model.stream(word, **OPTIONS[index])  # type: ignore[arg-type]
        if self.random.random() < 0.5:
            next(pieces)
            pieces.close()
        else:
            self.check(key, "".join(pieces))

    def iterate(self) -> None:
        keys = [self.pick()[0] for _ in range(40)]
        results = self.model.generate_iter(keys)
        for word in keys[: self.random.randint(0, 40)]:
            self.check((word, 0), next(results).text)

    async def one(self, key: tuple[str, int]) -> None:
        word, index = key
        results = await self.model.agenerate(word, **OPTIONS[index])  # type: ignore[call-overload]
        self.check(key, results[0].text)

    async def tasks(self) -> None:
        tasks = [asyncio.create_task(self.one(self.pick())) for _ in range(30)]
        await asyncio.sleep(self.random.random() * 0.02)
        for task in self.random.sample(tasks, self.random.randint(0, 30)):
            task.cancel()
        for task in tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def gather(self) -> None:
        asyncio.run(self.tasks())

    def travel(self) -> None:
        self.call(pickle.loads(pickle.dumps(self.model)))

    def wrong(self) -> None:
        for call in (lambda: self.model.translate([3.5]), lambda: self.model.translate("a", num_beams=0)):  # type: ignore[list-item]
            try:
                call()
            except (TypeError, ValueError):
                continue
            raise AssertionError("no error")

    def fork(self) -> None:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                self.call(self.model)
                asyncio.run(self.one(self.pick()))
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0

    def step(self) -> None:
        name, weight = zip(*WEIGHTS.items())
        chosen = self.random.choices(name, weight)[0]
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        self.call(self.model) if chosen == "call" else getattr(self, chosen)()
        self.done[chosen] += 1


WEIGHTS = {
    "call": 20, "renew": 1, "threads": 3, "stream": 10, "iterate": 4, "gather": 10, "travel": 2, "wrong": 3, "fork": 2
}  # fmt: skip


def resident_megabytes() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600
    soak = Soak(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    begin = time.monotonic()
    for tenth in range(1, 11):
        while time.monotonic() - begin < seconds * tenth / 10:
            soak.step()
        files, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
        print(f"{sum(soak.done.values())} steps: {resident_megabytes():.0f} MB, {files} files, {threads} threads", flush=True)
    faulthandler.cancel_dump_traceback_later()
    print(dict(soak.done))


if __name__ == "__main__":
    main()
