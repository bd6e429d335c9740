"""generate_iter and stream: they read sources lazily, keep the order, and stop when they are closed."""

from __future__ import annotations

import gc
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator

import pytest

import encdec


def threads_of_process() -> int:
    return len(os.listdir("/proc/self/task"))


def settle(condition: Callable[[], bool]) -> bool:
    """Returns whether `condition` becomes true within ten seconds."""
    end = time.monotonic() + 10
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def test_results_are_those_of_generate_in_order(model: encdec.Model, words: list[str]) -> None:
    sources = words[:700]
    expected = model.generate(sources, num_beams=2)
    for options in ({}, {"batch_size": 3}, {"workers": 2}):
        found = list(model.generate_iter(iter(sources), num_beams=2, **options))  # type: ignore[call-overload]
        assert found == expected


def test_sources_are_read_as_results_are_taken(model: encdec.Model) -> None:
    read = itertools.count()

    def endless() -> Iterator[str]:
        while True:
            next(read)
            yield "cat"

    results = model.generate_iter(endless(), batch_size=2)
    for _ in range(20):
        assert next(results).text == "K AE1 T"
    results.close()  # type: ignore[attr-defined]
    assert next(read) <= 20 + 4 * 2 + 1


def test_an_iterable_runs_in_the_callers_thread_and_its_errors_come_out(model: encdec.Model) -> None:
    def broken() -> Iterator[str]:
        assert threading.current_thread() is threading.main_thread()
        yield "cat"
        raise KeyError("broken")

    results = model.generate_iter(broken())
    with pytest.raises(KeyError, match="broken"):
        list(results)


def test_bad_sources_end_the_iteration_after_those_before(model: encdec.Model) -> None:
    results = model.generate_iter(["cat", "dog", [10**6], "cat"])
    assert next(results).text == "K AE1 T" and next(results).text == "D AO1 G"
    with pytest.raises(encdec.InputError):
        next(results)
    with pytest.raises(StopIteration):
        next(results)


def test_an_iterator_that_is_dropped_leaves_no_thread(model: encdec.Model) -> None:
    before = threads_of_process()
    for _ in range(20):
        next(model.generate_iter(itertools.repeat("photography")))
    gc.collect()
    assert settle(lambda: threads_of_process() <= before)


def test_pieces_are_the_text(model: encdec.Model, words: list[str]) -> None:
    for options in ({}, {"num_beams": 3}, {"do_sample": True, "seed": 3}):
        for word in words[:20]:
            assert "".join(model.stream(word, **options)) == model.translate(word, **options)  # type: ignore[call-overload]
    assert "".join(model.stream("cat", prefix="D AO1")) == model.translate("cat", prefix="D AO1")
    assert len(list(model.stream("photography"))) > 3
    assert list(model.stream("")) == []


def test_streams_refuse_what_generate_refuses(model: encdec.Model, golden: Callable[[str], encdec.Model]) -> None:
    with pytest.raises(TypeError, match="num_beams"):
        model.stream("cat", num_beem=3)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="num_beams"):
        list(model.stream("cat", num_beams=0))
    with pytest.raises(encdec.TokenizerError, match="no tokenizer"):
        model_of_ids = golden("marian/untied")
        list(model_of_ids.stream([5, 6, 0]))
    with pytest.raises(encdec.InputError):
        list(model.stream([10**6]))


def test_a_thousand_cancelled_streams_leave_nothing_taken(model: encdec.Model) -> None:
    "".join(model.stream("cat"))
    files, threads = len(os.listdir("/proc/self/fd")), threads_of_process()
    for number in range(1000):
        stream = model.stream("photography")
        if number % 2:
            next(stream)
        stream.close()
    gc.collect()
    assert settle(lambda: len(os.listdir("/proc/self/fd")) <= files and threads_of_process() <= threads)
    assert "".join(model.stream("cat")) == "K AE1 T"
