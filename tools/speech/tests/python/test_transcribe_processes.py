"""Transcribing in threads and forked processes, with signals, and at the end of the interpreter."""

from __future__ import annotations

import gc
import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

import encdec
from child_process import expect_ctrl_c_to_end, expect_flat_memory, run
from test_iterate import settle, threads_of_process
from sounds import noise, wav

TESTS = Path(__file__).parent  # folder of sounds

START = """
import encdec, itertools, numpy, os, signal, sys, threading, time
sys.path.insert(0, sys.argv[2])
from sounds import noise, wav
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background of a shell ignore it
model = encdec.Model(sys.argv[1])
"""

LONG_CALLS = {
    "transcribe": "model.transcribe(numpy.tile(noise(10), 180), beam_size=40)",
    "a list": "model.transcribe([noise(1)] * 2000, beam_size=40)",
    "transcribe_iter of one": "list(model.transcribe_iter(numpy.tile(noise(10), 180), beam_size=40))",
    "transcribe_iter": "list(model.transcribe_iter(itertools.repeat(noise(1)), beam_size=40))",
}


@pytest.mark.parametrize("call", LONG_CALLS)
def test_ctrl_c_ends_a_call_within_a_fifth_of_a_second(call: str, speech_path: Path) -> None:
    expect_ctrl_c_to_end(LONG_CALLS[call], START, "assert model.transcribe(noise(0.1))", speech_path, TESTS)


@pytest.mark.parametrize(
    "code",
    [
        "segments = model.transcribe_iter(numpy.tile(noise(10), 60)); next(segments)",
        "pairs = model.transcribe_iter(itertools.repeat(noise(1))); next(pairs)",
        "call = lambda: model.transcribe(numpy.tile(noise(10), 180), beam_size=40);"
        "threading.Thread(target=call, daemon=True).start(); time.sleep(0.2)",
    ],
    ids=["transcribe_iter of one", "transcribe_iter", "daemon thread"],
)
def test_the_interpreter_ends_while_work_is_going_on(code: str, speech_path: Path) -> None:
    done = run(START + code + "; print('end', flush=True)", speech_path, TESTS)
    assert done.returncode == 0 and done.stdout == "end\n", done.stderr


def test_a_forked_process_goes_on(speech_path: Path) -> None:
    code = """
expected = model.transcribe(noise(1))
segments, pairs = model.transcribe_iter(numpy.tile(noise(10), 6)), model.transcribe_iter(itertools.repeat(noise(1)))
next(segments), next(pairs)
child = os.fork()
if child == 0:
    same = model.transcribe(noise(1)) == expected and next(model.transcribe_iter([noise(1)]))[1] == expected
    try:
        next(pairs)
    except encdec.Error as error:
        same = same and "fork()" in str(error)
    del segments, pairs
    os._exit(0 if same else 1)
assert os.waitpid(child, 0)[1] == 0
next(segments), next(pairs)
print("same")
"""
    done = run(START + code, speech_path, TESTS)
    assert done.stdout == "same\n", done.stderr


def test_numpy_is_imported_only_for_arrays(speech_path: Path, recording: Path) -> None:
    code = (
        "import encdec, sys; model = encdec.Model(sys.argv[1]); model.transcribe(sys.argv[2]).to('srt');"
        "list(model.transcribe_iter([sys.argv[2]])); assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(speech_path), str(recording)], check=True)


def test_an_iterator_that_is_dropped_leaves_no_thread(speech_model: encdec.Model) -> None:
    speech_model.transcribe(noise(0.3))  # starts the model's threads, which keep running
    before = threads_of_process()
    for _ in range(20):
        next(speech_model.transcribe_iter(itertools.repeat(noise(0.3))))
        next(speech_model.transcribe_iter(noise(60)))
    gc.collect()
    assert settle(lambda: threads_of_process() <= before)


def test_memory_stays_flat(speech_model: encdec.Model, recording: Path) -> None:
    audio = noise(0.1)

    def work() -> None:
        for _ in speech_model.transcribe_iter([recording, noise(0.5), wav(noise(0.5))] * 3, word_timestamps=True):
            pass
        speech_model.transcribe([recording, b""], on_error="null")
        next(speech_model.transcribe_iter(recording))
        speech_model.transcribe(noise(1), word_timestamps=True).to("srt", max_words_per_line=1)
        with pytest.raises(ValueError, match="beam_size"):
            speech_model.transcribe(noise(0.1), beam_size=0)
        speech_model.transcribe(audio)
        list(speech_model.transcribe_iter([audio]))

    references = sys.getrefcount(audio)
    expect_flat_memory(work)
    assert sys.getrefcount(audio) == references
