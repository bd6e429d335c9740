"""Threads, signals, forks, pickles, and the end of the interpreter."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import shutil
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cloudpickle  # type: ignore[import-untyped]
import pytest

import encdec
from child_process import START, expect_ctrl_c_to_end, expect_daemon_thread_to_stop, expect_flat_memory, run

LONG_CALLS = {
    "generate": "model.generate(words, **long)",
    "translate": "model.translate(words, **long)",
    "generate_iter": "list(model.generate_iter(itertools.cycle(words), **long))",
    "stream": "[list(model.stream(word, **long)) for word in words]",
    "score": "[model.score(words, words) for _ in range(1000)]",
    "one score": "model.score([word * 20 for word in words * 20], [' '.join(words[:60])] * len(words * 20))",
    "attention": "[model.attention(word, 'K' * 500) for word in words]",
    "agenerate": "asyncio.run(model.agenerate(words, **long))",
}


@pytest.mark.parametrize("call", LONG_CALLS)
def test_ctrl_c_ends_a_call_within_a_fifth_of_a_second(call: str, path: Path) -> None:
    expect_ctrl_c_to_end(LONG_CALLS[call], START, 'assert model.translate("cat") == "K AE1 T"', path)


def test_other_signal_handlers_run_during_a_call(path: Path) -> None:
    code = """
seen = []
signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
model.generate(words[:600], num_beams=4)
assert len(seen) >= 1, seen
def refuse(*_): raise ZeroDivisionError
signal.signal(signal.SIGALRM, refuse)
try:
    model.generate(words, **long)
except ZeroDivisionError:
    print("raised")
"""
    done = run(START + code, path)
    assert done.stdout == "raised\n", done.stderr


@pytest.mark.parametrize(
    "code",
    [
        "stream = model.stream('cat'); next(stream)",
        "results = model.generate_iter(itertools.cycle(words)); next(results)",
        "threading.Thread(target=lambda: model.generate(words, **long), daemon=True).start(); time.sleep(0.2)",
        "threading.Thread(target=lambda: model.generate(words, **long), daemon=True).start(); time.sleep(0.2);"
        "os.fork() or sys.exit(); os.wait()",
        "import gc; gc.disable(); loop = asyncio.new_event_loop();"
        "task = loop.create_task(model.agenerate(words, **long)); loop.run_until_complete(asyncio.sleep(0.1))",
    ],
    ids=["stream", "generate_iter", "daemon thread", "fork", "task"],
)
def test_the_interpreter_ends_while_work_is_going_on(code: str, path: Path) -> None:
    done = run(START + code + "; print('end', flush=True)", path)
    assert done.returncode == 0 and done.stdout == "end\n", done.stderr
    assert "leaked" not in done.stderr


@pytest.mark.parametrize(
    "call",
    [
        "model.generate('cat')",
        "model.score('cat', 'K AE1 T')",
        "model.tokenizer.encode('cat' * 20)",
        "model.score(['cat'] * 1000000, ['K'] * 1000000)",
        "model.generate([[type('Id', (), {'__index__': lambda _: time.sleep(0.05) or 5})()]])",
    ],
    ids=["generate", "score", "encode", "long list", "Python within a call"],
)
def test_daemon_threads_stop_when_the_interpreter_has_ended(call: str, path: Path) -> None:
    expect_daemon_thread_to_stop(call, START, path)


def test_subinterpreters_are_refused_and_leave_the_main_one_alone(path: Path) -> None:
    code = """
import sys
if sys.version_info >= (3, 13):
    import _interpreters as interpreters
    other = interpreters.create("legacy")
else:
    import _xxsubinterpreters as interpreters
    other = interpreters.create(isolated=False)
attempt = "try: import encdec\\nexcept ImportError as error: print(error, flush=True)"
interpreters.run_string(other, attempt)
import encdec
model = encdec.Model(sys.argv[1])
interpreters.run_string(other, attempt)
assert model.translate("cat") == encdec.Model(sys.argv[1]).translate("cat") == "K AE1 T"
"""
    done = run(code, path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 2 and all("in a subinterpreter, expected the main interpreter" in line for line in lines)


def test_a_second_import_works_beside_the_first(path: Path) -> None:
    code = """
import sys, encdec as first
model = first.Model(sys.argv[1])
for name in [name for name in sys.modules if name.startswith("encdec")]:
    del sys.modules[name]
import encdec
assert encdec is not first
assert model.translate("cat") == encdec.Model(sys.argv[1]).translate("cat") == "K AE1 T"
try:
    encdec.Model("/nowhere")
except encdec.FileError:
    print("refused")
"""
    done = run(code, path)
    assert done.stdout == "refused\n", done.stderr


def test_threads_share_a_model(model: encdec.Model, words: list[str]) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda _: model.generate(words[:40]), range(40))
        assert list(found) == [model.generate(words[:40])] * 40


def test_other_threads_run_during_a_call(model: encdec.Model, words: list[str]) -> None:
    beats = 0
    done = threading.Event()

    def beat() -> None:
        nonlocal beats
        while not done.wait(0.001):
            beats += 1

    thread = threading.Thread(target=beat)
    thread.start()
    model.generate(words[:500], num_beams=4)
    done.set()
    thread.join()
    assert beats > 10


def test_a_forked_process_goes_on(path: Path) -> None:
    code = """
text = model.translate("cat")
streamed = "".join(model.stream("dog"))
awaited = asyncio.run(model.agenerate("world"))[0].text
open_stream, results = model.stream("photography"), model.generate_iter(itertools.cycle(words))
next(open_stream), next(results)
child = os.fork()
if child == 0:
    same = (model.translate("cat"), "".join(model.stream("dog")), asyncio.run(model.agenerate("world"))[0].text)
    del results, open_stream
    os._exit(0 if same == (text, streamed, awaited) else 1)
assert os.waitpid(child, 0)[1] == 0
next(open_stream), next(results)
print("same")
"""
    done = run(START + code, path)
    assert done.stdout == "same\n", done.stderr


def translate(model: encdec.Model, word: str) -> str:
    return model.translate(word)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_pools_of_processes(method: str, model: encdec.Model) -> None:
    with multiprocessing.get_context(method).Pool(2) as pool:
        work = [(model, word) for word in ("cat", "dog", "world")] * 3
        assert pool.starmap(translate, work) == [model.translate(word) for _, word in work]


def test_a_pickle_is_a_path_and_options(model: encdec.Model, path: Path) -> None:
    again = pickle.loads(pickle.dumps(model))
    assert again is not model and again.translate("cat") == model.translate("cat")
    assert pickle.loads(pickle.dumps(model)) is again  # a process loads each model once
    reduced = pickle.loads(pickle.dumps(encdec.Model(path, precision="int8", workers=2)))
    assert reduced.precision == "int8" and "workers=2" in repr(reduced)
    assert len(pickle.dumps(model)) < 1000
    assert cloudpickle.loads(cloudpickle.dumps(lambda: model.translate("cat")))() == model.translate("cat")
    assert copy.copy(model) is model and copy.deepcopy([model])[0] is model


def test_a_pickle_names_no_folder_for_packed_weights(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named, chosen = tmp_path / "named", tmp_path / "chosen"
    pickled = pickle.dumps(encdec.Model(path, threads=3, weights_cache=named))
    shutil.rmtree(named)
    assert pickle.loads(pickled).translate("cat") == "K AE1 T"
    restore, arguments = encdec.Model(path, threads=4).__reduce__()
    with pytest.raises(encdec.ConfigError, match="a pickle with a weights_cache, expected none: ENCDEC_WEIGHTS_CACHE"):
        restore(str(path), {"threads": 4, "weights_cache": str(named)}, None)
    monkeypatch.setenv("ENCDEC_WEIGHTS_CACHE", str(chosen))
    assert restore(*arguments).translate("cat") == "K AE1 T"
    assert len(list(chosen.iterdir())) == 1 and not named.exists()


def test_a_pickle_of_other_weights_is_refused(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(path, folder)
    pickled = pickle.dumps(encdec.Model(folder))
    weights = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").write_bytes(weights[:-2] + bytes(2))
    with pytest.raises(encdec.ConfigError, match="the weights have changed"):
        pickle.loads(pickled)
    (folder / "model.safetensors").unlink()
    with pytest.raises(encdec.Error):
        pickle.loads(pickled)


def test_a_lazy_model_is_loaded_when_it_is_used(path: Path) -> None:
    absent = encdec.Model("/nowhere", lazy=True)
    travelled = pickle.loads(pickle.dumps(absent))
    with pytest.raises(encdec.FileError):
        travelled.translate("cat")
    model = encdec.Model(path, lazy=True)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: model.translate("cat"), range(4))) == ["K AE1 T"] * 4


def test_results_pickle(model: encdec.Model) -> None:
    results = model.generate(["cat", "dog"], attention=True, top_log_probs=2)
    again = pickle.loads(pickle.dumps(results))
    assert again == results
    assert (again[0].hypotheses[0].attention.maps["cross"] == results[0].hypotheses[0].attention.maps["cross"]).all()
    assert str(pickle.loads(pickle.dumps(encdec.InputError("a: b")))) == "a: b"
    assert str(pickle.loads(pickle.dumps(encdec.FileError("a: b")))) == "a: b"


def test_open_model_loads_once(path: Path) -> None:
    first = encdec.open_model(path)
    assert encdec.open_model(str(path), precision="float32", threads=None) is first
    assert encdec.open_model(os.path.relpath(path)) is first
    assert encdec.open_model(path, precision="int8") is not first
    with pytest.raises(TypeError):
        encdec.open_model(path, precison="int8")


def test_a_word_is_translated_after_a_call_that_ran_out_of_memory(path: Path) -> None:
    code = """
import encdec, resource, sys
model = encdec.Model(sys.argv[1], threads=1)
expected = model.translate("cat")
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (200 << 20), -1))
try:
    model.generate(["a" * 60] * 256, num_beams=8, min_new_tokens=60, batch_size=256)  # its keys and values take 500 MB
except MemoryError:
    print("out of memory", flush=True)
assert model.translate("cat") == expected
"""
    done = run(code, path)
    assert (done.returncode, done.stdout) == (0, "out of memory\n"), done.stderr


def test_memory_and_references_stay_flat(model: encdec.Model, words: list[str]) -> None:
    source = "a source of its own"

    def work() -> None:
        model.generate(words[:20], num_beams=2, top_log_probs=2, attention=True)
        model.forward([[5, 6, 0]], [[71, 3]])
        "".join(model.stream("cat"))
        list(model.generate_iter(words[:5]))
        model.translate([source, source])
        for bad in ({"num_beams": 0}, {"num_beam": 1}):
            with pytest.raises((ValueError, TypeError)):
                model.generate("cat", **bad)  # type: ignore[call-overload]

    references = sys.getrefcount(source)
    expect_flat_memory(work)
    assert sys.getrefcount(source) == references
