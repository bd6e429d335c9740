"""Arguments that callers may pass, and the errors for wrong ones."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy
import pytest

import encdec

WRONG_OPTIONS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"num_beem": 3}, TypeError, "did you mean 'num_beams'"),
    ({"xyz_unheard_of": 3}, TypeError, "unexpected keyword argument 'xyz_unheard_of'"),
    ({"beam_size": 4}, TypeError, "generate() got an unexpected keyword argument 'beam_size', did you mean 'num_beams'?"),
    ({"max_decoding_length": 4}, TypeError, "did you mean 'max_new_tokens'?"),
    ({"max_batch_size": 4}, TypeError, "did you mean 'batch_size'?"),
    ({"inter_threads": 2}, TypeError, "did you mean 'workers'?"),
    ({"sampling_topk": 10}, TypeError, "did you mean 'top_k' with do_sample=True?"),
    ({"return_scores": True}, TypeError, "'return_scores', generate() always gives scores"),
    ({"num_beams": 2.0}, TypeError, "num_beams is 2.0, expected an integer"),
    ({"num_beams": True}, TypeError, "num_beams is True, expected an integer"),
    ({"num_beams": "4"}, TypeError, "num_beams is '4', expected an integer"),
    ({"num_beams": 2**70}, ValueError, "64-bit"),
    ({"temperature": float("nan")}, ValueError, "temperature is nan"),
    ({"temperature": 10**400}, ValueError, "temperature"),
    ({"do_sample": 1}, TypeError, "do_sample is 1, expected True or False"),
    ({"early_stopping": 1}, TypeError, "early_stopping is 1"),
    ({"eos_token_id": "x"}, TypeError, "eos_tokens"),
    ({"eos_token_id": 10**6}, ValueError, "token id 1000000, expected 0 to 71"),
    ({"eos_token_id": 1, "eos_tokens": 1}, TypeError, "same option"),
    ({"bad_words_ids": [1, 2]}, TypeError, "bad_words"),
    ({"exponential_decay_length_penalty": 3}, TypeError, "a start and a factor"),
    ({"attention": {"kinds": ["side"]}}, ValueError, "kinds has 'side'"),
    ({"attention": {"layers": 99}}, ValueError, "layer"),
    ({"attention": {"hats": 1}}, TypeError, "hats"),
    ({"attention": 1}, TypeError, "attention is 1"),
    ({"target_lang": b"fr"}, TypeError, "target_lang"),
    ({"on_error": "shrug"}, ValueError, "on_error is 'shrug'"),
    ({"prefix": [1, 2]}, TypeError, "prefix 1: list, expected str, as the source"),
    ({"drafts": [[1, 2]]}, TypeError, "draft 1: list, expected str, as the source"),
]

WRONG_SOURCES: list[tuple[Any, type[Exception], str]] = [
    (b"cat", TypeError, "source 1: bytes"),
    (3, TypeError, "sources: int"),
    (None, TypeError, "sources: NoneType"),
    ({"cat": 1}, TypeError, "sources: dict"),
    (["cat", None], TypeError, "source 2: NoneType"),
    ([["cat"]], TypeError, "source 1: str"),
    ([1, "cat"], TypeError, "source 1: str"),
    ([1.5], TypeError, "source 1: float"),
    ([[1, True]], TypeError, "source 1: bool"),
    ([[10**6]], encdec.InputError, "1000000"),
    ([[-1]], encdec.InputError, "-1"),
    ([[2**80]], ValueError, "64-bit"),
    (numpy.array([1.0, 2.0]), TypeError, "source 1: float"),
    (numpy.zeros((1, 1, 1), int), TypeError, "source 1: list"),
    ("a\ud800", encdec.TokenizerError, "UTF-8"),
]


@pytest.mark.parametrize(("options", "error", "text"), WRONG_OPTIONS, ids=str)
def test_wrong_options_are_refused_by_name(
    model: encdec.Model, options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=".") as raised:
        model.generate("cat", **options)
    assert text in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("sources", "error", "text"), WRONG_SOURCES, ids=repr)
def test_wrong_sources_are_refused(model: encdec.Model, sources: Any, error: type[Exception], text: str) -> None:
    for function in (model.generate, model.translate):
        with pytest.raises(error, match=".") as raised:
            function(sources)
        assert text in str(raised.value)


def test_errors_are_of_the_kinds_that_python_knows() -> None:
    assert issubclass(encdec.Error, RuntimeError)
    assert issubclass(encdec.FileError, (encdec.Error, OSError))
    assert issubclass(encdec.FileError, OSError)
    for kind in (encdec.ConfigError, encdec.InputError):
        assert issubclass(kind, encdec.Error) and issubclass(kind, ValueError)
    for kind in (encdec.WeightError, encdec.TokenizerError, encdec.BackendError, encdec.ResourceError):
        assert issubclass(kind, encdec.Error)
    assert encdec.FileError.__module__ == "encdec"


def test_wrong_loads_are_refused(path: Path, tmp_path: Path) -> None:
    with pytest.raises(OSError):
        encdec.Model(tmp_path)
    for broken in ("\0\0", b"a\0b", path / "\0"):
        with pytest.raises(encdec.FileError, match="path contains a NUL byte"):
            encdec.Model(broken)  # type: ignore[arg-type]
    with pytest.raises(encdec.FileError, match="path contains a NUL byte"):
        encdec.Model(path, weights_cache=str(tmp_path / "cache\0"))
    with pytest.raises(ValueError, match="threads"):
        encdec.Model(path, threads=-1)
    with pytest.raises(TypeError, match="threads"):
        encdec.Model(path, threads="2")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="workers"):
        encdec.Model(path, workers=0)
    with pytest.raises(TypeError):
        encdec.Model(3)  # type: ignore[arg-type]
    for options, advice in [
        ({"precison": "int8"}, "'precison', did you mean 'precision'?"),
        ({"compute_type": "int8"}, "'compute_type', did you mean precision='int8'?"),
        ({"compute_type": "int8_float32"}, "did you mean precision='int8'?"),
        ({"compute_type": "float16"}, "did you mean 'precision'?"),
        ({"device": "cpu"}, "'device', encdec runs on CPUs only"),
        ({"intra_threads": 2}, "did you mean 'threads'?"),
    ]:
        for function in (encdec.Model, encdec.open_model):
            with pytest.raises(TypeError, match="^Model.. got an unexpected keyword argument") as raised:
                function(path, **options)
            assert str(raised.value).endswith(advice)
    with pytest.raises(TypeError, match="^Model.__init__.. missing 1 required positional argument: 'path'"):
        encdec.Model()  # type: ignore[call-arg]


def test_wrong_calls_of_other_functions_are_refused(model: encdec.Model) -> None:
    with pytest.raises(encdec.InputError, match="2 sources but 1 targets"):
        model.score(["cat", "dog"], ["K"])
    with pytest.raises(TypeError, match="one of each"):
        model.score("cat", ["K"])
    with pytest.raises(TypeError, match="for both"):
        model.score(["cat"], [[1, 2]])
    with pytest.raises(encdec.InputError):
        model.forward([[1]], [[1], [2]])
    with pytest.raises(TypeError, match="source 1"):
        model.forward(["cat"], [[1]])
    with pytest.raises(TypeError, match="one text"):
        model.attention(["cat", "dog"])  # type: ignore[arg-type]
    for empty in ([], (), numpy.zeros((0, 3), int)):
        with pytest.raises(encdec.InputError, match="source 1: no tokens, expected at least one"):
            model.attention(empty)
    for function in (model.attention, model.stream):
        with pytest.raises(TypeError, match="source: NoneType, expected one text, or its token ids"):
            function(None)
    with pytest.raises(TypeError, match="expected an iterable"):
        model.generate_iter("cat")
    with pytest.raises(TypeError, match="num_beams"):
        model.generate_iter([], num_beem=3)  # type: ignore[call-overload]
    assert model.tokenizer is not None
    with pytest.raises(TypeError):
        model.tokenizer.encode(None)  # type: ignore[arg-type]
    with pytest.raises(encdec.InputError):
        model.tokenizer.piece(10**6)
    with pytest.raises(ValueError, match="side"):
        model.tokenizer.piece(1, "left")  # type: ignore[arg-type]


def test_all_forms_of_ids_are_the_same(model: encdec.Model) -> None:
    assert model.tokenizer is not None
    ids = model.tokenizer.encode("cat")
    expected = model.generate("cat")
    forms = [ids, tuple(ids), numpy.array(ids, numpy.int32), numpy.array(ids), numpy.array(ids, numpy.uint8)]
    for form in forms:
        assert model.generate(form) == expected
        assert model.generate([form]) == expected
        assert model.translate(form) == "K AE1 T"
    assert model.generate(numpy.array([ids, ids])) == expected * 2
    assert model.generate([numpy.int64(each) for each in ids]) == expected
    assert model.translate(numpy.array(["cat", "cat"])) == ["K AE1 T"] * 2
    assert model.translate(each for each in ["cat"]) == ["K AE1 T"]
    assert model.generate([]) == [] and model.translate([]) == []


def test_both_names_set_the_same_option(model: encdec.Model) -> None:
    for ours, theirs, value in [
        ("eos_tokens", "eos_token_id", [6]),
        ("forced_bos_token", "forced_bos_token_id", 6),
        ("forced_eos_tokens", "forced_eos_token_id", 5),
        ("bad_words", "bad_words_ids", [[6]]),
        ("decoder_start_token", "decoder_start_token_id", 3),
    ]:
        options: Any = {"max_new_tokens": 3}
        assert model.generate("cat", **{ours: value}, **options) == model.generate("cat", **{theirs: value}, **options)
    assert model.generate("cat", eos_token_id=6) == model.generate("cat", eos_token_id=[6])
    assert model.generate("cat", num_beams=None, penalty_alpha=None) == model.generate("cat")  # type: ignore[call-overload]
    assert model.generate("cat", typical_p=1.0) == model.generate("cat")  # type: ignore[call-overload]


def test_bad_sources_give_none_where_that_is_asked_for(model: encdec.Model) -> None:
    sources: list[Any] = ["cat", None, [10**6], [2**40], "a\ud800", "dog", [99], float("nan")]
    texts = model.translate(sources, on_error="null")
    assert texts == ["K AE1 T", None, None, None, None, "D AO1 G", None, None]
    with pytest.raises(encdec.ConfigError):
        model.translate(sources, on_error="null", num_beams=0)
    assert [each and each.text for each in model.generate_iter(sources, on_error="null")] == texts
    assert model.translate([None] * 50, on_error="null") == [None] * 50


def test_columns_of_tables_are_lists(model: encdec.Model) -> None:
    class NAType: ...

    class Arrow(list[str | None]):
        def __iter__(self) -> Any:
            return map(object, self.to_pylist())

        def to_pylist(self) -> list[str | None]:
            return self[:]

    assert model.translate(["cat", NAType(), float("nan")], on_error="null") == ["K AE1 T", None, None]
    assert model.translate(Arrow(["cat", None]), on_error="null") == ["K AE1 T", None]
    assert [each and each.text for each in model.generate_iter(Arrow(["cat", None]), on_error="null")] == ["K AE1 T", None]
    assert model.translate(numpy.array(["cat", "dog"]), on_error="null") == ["K AE1 T", "D AO1 G"]
    with pytest.raises(TypeError, match="source 1: float"):
        model.translate([float("nan")])


def test_drafts_change_no_result(model: encdec.Model) -> None:
    words = ["cat", "dog", "photography"]
    expected = model.translate(words)
    assert model.translate("cat", drafts="K AE1 T") == expected[0]
    assert "".join(model.stream("cat", drafts=["K AE1"])) == expected[0]
    for loaded in ({"draft_precision": "int8"}, {"assistant_model": model.path, "draft_precision": "bfloat16"}):
        drafting = encdec.Model(model.path, **loaded)  # type: ignore[arg-type]
        assert drafting.translate(words) == expected
        assert "draft_precision" in repr(drafting)
    with pytest.raises(ValueError, match="draft_precision is 'float32', expected bfloat16, int8 or int4"):
        encdec.Model(model.path, draft_precision="float32")  # type: ignore[arg-type]
    with pytest.raises(encdec.FileError, match="/nowhere"):
        encdec.Model(model.path, assistant_model="/nowhere")


ANYTHING: list[Any] = [
    None, True, False, 0, 1, -1, 2**31, 2**63, 2**64, -(2**70), 0.5, float("inf"), float("nan"), "", "cat", "\x00",
    "a\ud800", "é" * 50, b"", b"cat", [], [[]], [1], [0, 1], ["cat", 1], (), {}, {"a": 1}, {1}, object(), int, len,
    numpy.zeros(0), numpy.zeros((2, 0), int), numpy.array(3), numpy.array("cat"), numpy.array([1, 2], numpy.uint64),
    numpy.array([object()]), 1j, range(3), memoryview(b"ab"),
]  # fmt: skip


def call_with_anything(functions: list[Any], names: list[str], anything: list[Any] = ANYTHING) -> int:
    """Calls the functions with any sources and any options with these names. Returns the number of refused calls."""
    choose = random.Random(5)
    refused = 0
    for _ in range(3000):
        source = choose.choice(anything) if choose.random() < 0.5 else choose.choices(anything, k=choose.randint(0, 3))
        options = {name: choose.choice(anything) for name in choose.sample(names, choose.randint(0, 3))}
        if any(options.get(name) is not None for name in ("workers", "max_new_tokens", "max_length")):
            continue  # run on other threads, or depend on time
        try:
            choose.choice(functions)(source, **options)
        except (TypeError, ValueError, encdec.Error):
            refused += 1
    return refused


def test_any_value_is_accepted_or_refused_with_an_error(model: encdec.Model) -> None:
    from encdec import _options

    names = sorted(_options.GENERATE | {"prefix", "on_error", "no_such_option"})
    assert model.tokenizer is not None
    assert call_with_anything([model.generate, model.translate, model.tokenizer.encode], names) > 700
    assert model.translate("cat") == "K AE1 T"
