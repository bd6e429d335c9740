"""Arguments of transcribe, and the errors for wrong ones."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy
import pytest

import encdec
from encdec.speech.options import TRANSCRIBE
from sounds import noise, wav
from test_arguments import call_with_anything

WRONG_OPTIONS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"beam_sizes": 3}, TypeError, "did you mean 'beam_size'"),
    ({"beam_size": 0}, encdec.ConfigError, "beam_size is 0, expected an integer from 1 to 1000"),
    ({"best_of": True}, TypeError, "best_of is True, expected an integer"),
    ({"temperature": "warm"}, TypeError, "temperature is 'warm', expected a number"),
    ({"temperature": (0.0, None)}, TypeError, "temperature is None, expected a number"),
    ({"language": "klingon"}, ValueError, "language 'klingon' is not known, expected one of en, "),
    ({"language": b"en"}, TypeError, "language is b'en', expected a str"),
    ({"task": "sing"}, ValueError, "task is 'sing', expected transcribe or translate"),
    ({"suppress_tokens": [-2]}, ValueError, "suppress_tokens is -2"),
    ({"suppress_tokens": "a,b"}, ValueError, "suppress_tokens is 'a,b', expected numbers separated by commas"),
    ({"suppress_tokens": 1.5}, TypeError, "suppress_tokens is 1.5"),
    ({"clip_timestamps": "1;2"}, ValueError, "clip_timestamps is '1;2'"),
    ({"logprob_threshold": -1, "log_prob_threshold": -1}, TypeError, "same option"),
    ({"timestamps": True, "without_timestamps": True}, TypeError, "same option"),
    ({"word_timestamps": 1}, TypeError, "word_timestamps is 1, expected True or False"),
    ({"workers": "2"}, TypeError, "workers is '2', expected an integer"),
    ({"initial_prompt": [1, 2]}, TypeError, "initial_prompt"),
    ({"initial_prompt": "a\ud800"}, encdec.TokenizerError, "UTF-8"),
    ({"vad_model": 3}, TypeError, "vad_model is 3, expected a path"),
    ({"vad_model": "a\0b"}, encdec.FileError, "path contains a NUL byte"),
    ({"vad_filter": True}, TypeError, "unexpected keyword argument 'vad_filter', did you mean 'vad_model'?"),
    ({"num_beams": 5}, TypeError, "did you mean 'beam_size'?"),
    ({"vad_parameters": {"threshold": 0.5}}, ValueError, "vad_parameters without vad_model, expected both"),
    ({"vad_model": "/nowhere", "vad_parameters": 0.5}, TypeError, "vad_parameters is 0.5, expected a dict"),
    ({"vad_model": "/nowhere", "vad_parameters": {"hats": 1}}, TypeError, "hats"),
    ({"verbose": True}, ValueError, "verbose is True, which this version does not support"),
    ({"on_error": "shrug"}, ValueError, "on_error is 'shrug'"),
    ({"sampling_rate": 16_000.0}, TypeError, "sampling_rate is 16000.0, expected an integer"),
]

WRONG_RECORDINGS: list[tuple[Any, type[Exception], str]] = [
    (5, TypeError, "audio: int, expected a path"),
    (None, TypeError, "audio: NoneType, expected a path"),
    ([0.1, 0.2], TypeError, "recording 1: float, expected a path"),
    ([[]], TypeError, "recording 1: list, expected a path"),
    ({"path": "a.wav"}, TypeError, "audio: a dict of 'path', expected 'array' and 'sampling_rate'"),
    ("/nowhere.wav", encdec.FileError, "/nowhere.wav: No such file"),
    ("a\0b.wav", encdec.FileError, "path contains a NUL byte"),
    (b"RIFF1234WAVE", encdec.FileError, "audio: ends before its samples"),
    (io.StringIO("RIFF"), TypeError, "audio: reading gives str, expected bytes"),
    (numpy.zeros((2, 8)), encdec.InputError, "audio: an array [2, 8], expected one channel [N]"),
    (numpy.array(3.0), encdec.InputError, "audio: an array [], expected one channel"),
    (numpy.zeros(8, numpy.int32), TypeError, "audio: samples of int32, expected float32 or float64 from -1 to 1, or int16"),
    (numpy.zeros(8, complex), TypeError, "audio: samples of complex128"),
    ([numpy.zeros(8), numpy.array([0, numpy.nan])], encdec.InputError, "recording 2: a sample is nan, expected a number"),
]


@pytest.mark.parametrize(("options", "error", "text"), WRONG_OPTIONS, ids=str)
def test_wrong_options_are_refused_by_name(
    speech_model: encdec.Model, options: dict[str, Any], error: type[Exception], text: str
) -> None:
    for call in (speech_model.transcribe, lambda audio, **options: [*speech_model.transcribe_iter([audio], **options)]):
        with pytest.raises(error, match=".") as raised:
            call(noise(0.1), **options)
        assert text in str(raised.value)
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("audio", "error", "text"), WRONG_RECORDINGS, ids=repr)
def test_wrong_recordings_are_refused(
    speech_model: encdec.Model, audio: Any, error: type[Exception], text: str
) -> None:
    for call in (speech_model.transcribe, lambda audio: list(speech_model.transcribe_iter(audio))):
        with pytest.raises(error, match=".") as raised:
            call(audio)
        assert text in str(raised.value)


def test_bad_recordings_give_none_where_that_is_asked_for(speech_model: encdec.Model, recording: Path) -> None:
    recordings: list[Any] = [recording, None, "/nowhere", "a\0b", b"", float("nan"), numpy.array([numpy.inf]), recording]
    good = speech_model.transcribe(recording)
    expected = [good, *[None] * 6, good]
    assert speech_model.transcribe(recordings, on_error="null") == expected
    pairs = list(speech_model.transcribe_iter(recordings, on_error="null"))
    assert sorted(id(each) for each, _ in pairs) == sorted(map(id, recordings))
    assert all((transcript == good) == (each is recording) for each, transcript in pairs)
    assert speech_model.transcribe([None] * 20, on_error="null") == [None] * 20
    with pytest.raises(encdec.ConfigError):
        speech_model.transcribe(recordings, on_error="null", beam_size=0)
    with pytest.raises(TypeError, match="recording 2: int"):
        speech_model.transcribe([recording, 5], on_error="null")  # type: ignore[list-item]
    with pytest.raises(ValueError, match="expected 'raise'"):
        speech_model.transcribe_iter(recording, on_error="null")  # type: ignore[call-overload]


WRONG_WRITING: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    ("sub", {}, encdec.ConfigError, "format is 'sub', expected one of txt, vtt, srt, tsv, json, lrc"),
    (None, {}, TypeError, "format is None, expected a str"),
    ("srt", {"max_linewidth": 40}, TypeError, "did you mean 'max_line_width'"),
    ("srt", {"max_line_width": 0}, encdec.ConfigError, "max_line_width is 0"),
    ("srt", {"max_line_count": 2}, encdec.ConfigError, "max_line_count without max_line_width"),
    ("srt", {"highlight_words": 1}, TypeError, "highlight_words is 1"),
]


def transcript(words: list[encdec.TranscriptWord] | None) -> encdec.Transcript:
    return encdec.Transcript(" a", "en", 1, 1, [encdec.TranscriptSegment(0, 0, 0, 1, " a", [1], 0, 0, 1, 0, words)])


@pytest.mark.parametrize(("format", "options", "error", "text"), WRONG_WRITING, ids=str)
def test_wrong_ways_to_write_are_refused(format: Any, options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        transcript([encdec.TranscriptWord(" a", 0, 1, 0.5)]).to(format, **options)


def test_options_of_words_need_word_times() -> None:
    with pytest.raises(encdec.ConfigError, match="max_line_width: there are no word times"):
        transcript(None).to("srt", max_line_width=40)


ANYTHING: list[Any] = [
    None, True, False, 0, 1, -1, 2**31, 2**64, 0.5, float("inf"), float("nan"), "", "en", "\x00", "a\ud800", b"",
    b"RIFF", wav(noise(0.1)), [], [[]], [1], [0.0, 0.5], (), {}, {"array": 1}, {1}, object(), int, len, numpy.zeros(0),
    noise(0.1), numpy.zeros((2, 0)), numpy.array(3), numpy.array("cat"), numpy.array([object()]), range(3), io.BytesIO(),
    memoryview(b"ab"), io.StringIO(),
]  # fmt: skip


def test_any_value_is_accepted_or_refused_with_an_error(speech_model: encdec.Model) -> None:
    def transcribe(audio: Any, **options: Any) -> None:
        found: Any = speech_model.transcribe(audio, **options)
        for each in found if isinstance(found, list) else [found]:
            if each is not None:
                each.to("srt"), each.to("json"), each.to("lrc")
        list(speech_model.transcribe_iter(audio, **options))

    names = sorted(TRANSCRIBE - {"workers"} | {"sampling_rate", "on_error", "no_such_option"})
    assert call_with_anything([transcribe], names, ANYTHING) > 1500
