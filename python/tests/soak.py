"""Does random work for a given time: python python/tests/soak.py [SECONDS] [SEED]

The tests try each kind of work alone; this program mixes them: it uses a model in threads, tasks, streams, pickles and
forked processes, cancels some of it, and compares every result. Prints the number of steps, memory, open files and
threads ten times. Unpickled models stay in memory, one for each choice of options. Ends with a traceback of all threads
if one step takes a minute.
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import encdec

FOLDER = Path(__file__).resolve().parents[2] / "models/pretrained/english-pronunciation"
WORDS = "attention world serendipity cat dog photography a pronunciation network translate".split()
OPTIONS: list[dict[str, Any]] = [{}, {"num_beams": 4}, {"max_new_tokens": 3}, {"do_sample": True, "seed": 7}]
HANG_SECONDS = 60


class Soak:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.model = encdec.Model(FOLDER, threads=2)
        work = [(word, options) for word in WORDS for options in OPTIONS]
        self.expected = [(word, options, self.model.translate(word, **options)) for word, options in work]

    def call(self, *_: object) -> None:
        word, options, text = self.random.choice(self.expected)
        assert self.model.translate(word, **options) == text, (word, options)

    def renew(self) -> None:
        self.model = encdec.Model(FOLDER, threads=self.random.randint(1, 3), workers=self.random.randint(1, 3))

    def travel(self) -> None:
        self.model = pickle.loads(pickle.dumps(self.model))

    def threads(self) -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(self.call, range(8)))

    def stream(self) -> None:
        word, options, text = self.random.choice(self.expected)
        pieces = self.model.stream(word, **options)
        if self.random.random() < 0.5:
            next(pieces)
            pieces.close()
        else:
            assert "".join(pieces) == text, (word, options)

    async def await_one(self) -> None:
        word, options, text = self.random.choice(self.expected)
        assert (await self.model.agenerate(word, **options))[0].text == text, (word, options)

    async def await_many(self) -> None:
        tasks = [asyncio.create_task(self.await_one()) for _ in range(30)]
        await asyncio.sleep(self.random.random() * 0.02)
        for task in self.random.sample(tasks, self.random.randint(0, 30)):
            task.cancel()
        for task in tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def tasks(self) -> None:
        asyncio.run(self.await_many())

    def fork(self) -> None:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                self.call()
                asyncio.run(self.await_one())
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0

    def step(self) -> None:
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        kinds = [self.call, self.threads, self.stream, self.tasks, self.renew, self.travel, self.fork]
        self.random.choices(kinds, [20, 3, 10, 10, 1, 2, 2])[0]()


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600
    soak = Soak(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    begin, steps = time.monotonic(), 0
    for tenth in range(1, 11):
        while time.monotonic() - begin < seconds * tenth / 10:
            soak.step()
            steps += 1
        gc.collect()
        megabytes = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
        files, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
        print(f"{steps} steps: {megabytes:.0f} MB, {files} files, {threads} threads", flush=True)
    faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main()
