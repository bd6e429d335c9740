"""Transcribing with random weights: the texts are meaningless, but deterministic."""

from __future__ import annotations

import asyncio
import io
import itertools
import json
import os
import pickle
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import encdec
from encdec.speech import options
from fixtures import NUMBERS, awaited, expect_examples_to_run, expect_stub_to_be_complete
from sounds import noise, wav


def test_a_recording_that_ends_early_is_told(speech_model: encdec.Model) -> None:
    cut, part = wav(noise(2))[:-16_000], noise(2)[:24_000]
    with pytest.warns(RuntimeWarning, match="ends before its stated length"):
        found = speech_model.transcribe(cut)
    whole = speech_model.transcribe(part)
    assert found.is_cut and not whole.is_cut
    assert found.segments == whole.segments
    with pytest.warns(RuntimeWarning, match="ends before its stated length"):
        assert speech_model.align(cut, "a b").is_cut


def test_all_forms_of_a_recording_are_the_same(speech_model: encdec.Model, tmp_path: Path) -> None:
    samples = noise(2)
    data = wav(samples)
    path, pipe = tmp_path / "ü\udcff.wav", tmp_path / "pipe"
    path.write_bytes(data)
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_bytes, args=[data]).start()
    expected = speech_model.transcribe(str(path))
    assert expected.segments and expected.text and expected.duration == 2.0
    floats = samples.astype(numpy.float32) / 32768
    forms: list[Any] = [
        path, pipe, data, bytearray(data), memoryview(data), io.BytesIO(data), samples, samples[None], samples[:, None],
        samples.astype(">i2"), floats, floats.astype(numpy.float64), numpy.repeat(floats, 2)[::2],
        {"array": floats, "sampling_rate": 16_000, "path": None},
    ]  # fmt: skip
    for form in forms:
        assert speech_model.transcribe(form) == expected, type(form)
    with open(path, "rb") as file:
        assert speech_model.transcribe(file) == expected
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert speech_model.transcribe(process.stdout) == expected
    assert speech_model.transcribe(iter([path, samples])) == [expected, expected]
    assert speech_model.transcribe(numpy.array([str(path)], object)) == [expected]
    assert speech_model.transcribe([]) == []
    empty = speech_model.transcribe(numpy.zeros(0))
    assert (empty.text, empty.segments, empty.duration) == ("", [], 0)


def test_other_rates_are_those_of_files(speech_model: encdec.Model) -> None:
    samples = noise(1)
    for rate in (8_000, 44_100):
        expected = speech_model.transcribe(wav(samples, rate))
        assert expected.duration == pytest.approx(16_000 / rate, abs=1e-3)
        assert speech_model.transcribe(samples, sampling_rate=rate) == expected
        assert speech_model.transcribe({"raw": samples, "sampling_rate": rate}) == expected
    with pytest.raises(TypeError, match="expected no sampling_rate for files"):
        speech_model.transcribe(wav(samples), sampling_rate=16_000)


def test_forms_of_drafts(speech_model: encdec.Model, speech_path: Path) -> None:
    audio: Any = noise(1)
    plain = speech_model.transcribe(audio, beam_size=1)
    for drafts in (plain.text, [plain.text], [None], "another"):
        assert speech_model.transcribe(audio, beam_size=1, drafts=drafts) == plain
        assert speech_model.transcribe([audio], beam_size=1, drafts=drafts, prompt_lookup_num_tokens=3) == [plain]
    assert encdec.Model(speech_path, assistant_model=speech_path).transcribe(audio, beam_size=1) == plain
    with pytest.raises(ValueError, match="2 drafts for 1 sources"):
        speech_model.transcribe(audio, drafts=["a", "b"])
    with pytest.raises(TypeError, match="drafts: list, expected str or None"):
        speech_model.transcribe([audio], drafts=[["a"]])
    with pytest.raises(TypeError, match="transcribe_iter: found drafts"):
        list(speech_model.transcribe_iter([audio], drafts="a"))


def test_options_have_effects(speech_model: encdec.Model) -> None:
    audio: Any = noise(1)

    def found(**options: Any) -> encdec.Transcript:
        return speech_model.transcribe(audio, **options)

    plain = found()
    assert 0 < plain.language_probability < 1
    german = found(language="German")
    assert german.language == "de" and german.language_probability == 1
    assert {each.temperature for each in found(temperature=0.7, seed=3).segments} == {0.7}
    assert found(beam_size=None, best_of=None) == found(beam_size=1, best_of=1)
    assert found(logprob_threshold=None) == found(log_prob_threshold=None)
    assert found(suppress_tokens="-1") == found(suppress_tokens=-1) == plain
    assert found(suppress_tokens=None) == found(suppress_tokens=[])
    clip = found(clip_timestamps="0.2,0.5")
    assert clip == found(clip_timestamps=[0.2, 0.5]) and clip.segments[0].seek == 20
    assert found(without_timestamps=True) == found(timestamps=False) != plain
    assert found(max_initial_timestamp=None, fp16=False, verbose=None).segments
    assert found(task="translate", initial_prompt="abc", hotwords="d", carry_initial_prompt=True)


def test_segments_come_one_by_one_and_then_the_transcript(speech_model: encdec.Model) -> None:
    for options in ({}, {"word_timestamps": True}):
        expected = speech_model.transcribe(noise(2), **options)  # type: ignore[call-overload]
        returned: list[encdec.Transcript] = []

        def listen() -> Iterator[encdec.TranscriptSegment]:
            returned.append((yield from speech_model.transcribe_iter(noise(2), **options)))  # type: ignore[call-overload]

        segments = list(listen())
        assert segments == expected.segments and returned == [expected]
        assert (segments[0].words is None) == (not options)


def test_recordings_are_read_as_transcripts_are_taken(speech_model: encdec.Model) -> None:
    read = itertools.count()

    def endless() -> Iterator[Any]:
        while True:
            next(read)
            yield noise(0.1)

    pairs = speech_model.transcribe_iter(endless(), batch_size=1)
    for _ in range(20):
        next(pairs)
    pairs.close()
    assert next(read) < 20 + 48 + 10


def test_transcripts_come_with_their_recordings_as_they_are_finished(speech_model: encdec.Model) -> None:
    recordings = [noise(20), *(noise(0.2, i) for i in range(5))]
    pairs = list(speech_model.transcribe_iter(iter(recordings), batch_size=2))
    assert len(pairs) == 6 and pairs[-1][0] is recordings[0]
    expected = {id(audio): speech_model.transcribe(audio) for audio in recordings[1:]}
    assert {id(audio): transcript for audio, transcript in pairs[:-1]} == expected


def test_errors_of_an_iterable_come_out(speech_model: encdec.Model, recording: Path) -> None:
    def broken() -> Iterator[Path]:
        assert threading.current_thread() is threading.main_thread()
        yield recording
        raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        list(speech_model.transcribe_iter(broken()))
    pairs = speech_model.transcribe_iter([recording, Path("/nowhere"), recording])
    with pytest.raises(encdec.FileError, match="nowhere"):
        list(pairs)
    with pytest.raises(StopIteration):
        next(pairs)


def test_transcripts_are_plain_values(speech_model: encdec.Model) -> None:
    transcript = speech_model.transcribe(noise(1), word_timestamps=True)
    found = transcript.as_dict()
    assert json.loads(transcript.to("json")) == found
    assert list(found) == ["text", "segments", "language"] and str(transcript) == transcript.text == found["text"]
    keys = "id seek start end text tokens temperature avg_logprob compression_ratio no_speech_prob words"
    assert list(found["segments"][0]) == keys.split()
    words = [word for segment in found["segments"] for word in segment["words"]]
    assert list(words[0]) == ["word", "start", "end", "probability"]
    plain = speech_model.transcribe(noise(1))
    assert list(plain.as_dict()["segments"][0]) == keys.split()[:-1] and plain.segments[0].words is None
    assert json.loads(plain.to("json")) == plain.as_dict()
    assert "tokens" not in repr(transcript) and repr(transcript).startswith("Transcript(text=")
    assert pickle.loads(pickle.dumps(transcript)) == transcript
    assert pickle.loads(pickle.dumps(speech_model)).transcribe(noise(1), word_timestamps=True) == transcript


def test_callers_may_make_transcripts_and_write_them() -> None:
    words = [encdec.TranscriptWord(word, i, i + 1, 0.5) for i, word in enumerate([" Hello", " there,", " world."])]
    segment = encdec.TranscriptSegment(0, 0, 0, 3, " Hello there, world.", [1, 2], 0, -0.5, 1.0, 0.1, words)
    made = encdec.Transcript(" Hello there, world.", "en", 1, 3, [segment])
    assert made.to("txt") == "Hello there, world.\n"
    assert made.to("vtt", max_words_per_line=2) == (
        "WEBVTT\n\n00:00.000 --> 00:02.000\nHello there,\n\n00:02.000 --> 00:03.000\nworld.\n\n"
    )
    assert "<u>there,</u>" in made.to("vtt", highlight_words=True, max_line_width=None)
    assert made.to("srt", max_line_width=8, max_line_count=2).startswith("1\n00:00:00,000 --> 00:00:02,000\nHello\nthere,\n\n")
    assert encdec.Transcript("", "en", 1, 0, []).to("json") == '{"text": "", "segments": [], "language": "en"}'


def test_the_pipeline_gives_what_transformers_gives(
    speech_model: encdec.Model, speech_path: Path, recording: Path
) -> None:
    recognise = encdec.pipeline("automatic-speech-recognition", model=speech_path)
    transcript = speech_model.transcribe(recording)
    assert recognise(str(recording)) == {"text": transcript.text}
    chunks = [{"timestamp": (each.start, each.end), "text": each.text} for each in transcript.segments]
    assert recognise(recording, return_timestamps=True) == {"text": transcript.text, "chunks": chunks}
    worded = speech_model.transcribe(recording, word_timestamps=True)
    words = [word for segment in worded.segments for word in segment.words or []]
    chunks = [{"timestamp": (word.start, word.end), "text": word.word} for word in words]
    assert words and recognise(recording, return_timestamps="word") == {"text": worded.text, "chunks": chunks}
    with open(recording, "rb") as file:
        assert recognise(file) == {"text": transcript.text}
    assert recognise([recording, recording]) == [{"text": transcript.text}] * 2
    assert list(recognise(each for each in [recording])) == [{"text": transcript.text}]
    german = {"language": "german", "num_beams": 2}
    expected = speech_model.transcribe(recording, language="de", beam_size=2).text
    assert recognise(recording, generate_kwargs=german) == {"text": expected} == recognise(recording, **german)
    with pytest.raises(encdec.ConfigError, match="return_timestamps is 'char'"):
        recognise(recording, return_timestamps="char")
    with pytest.raises(TypeError, match="chunk_length_s"):
        recognise(recording, chunk_length_s=30)


def test_a_known_text_gets_times() -> None:
    model = encdec.open_model(NUMBERS)
    clip, text = NUMBERS / "clips/pause.wav", "four two elephant\nplay some music\n"
    alignment = model.align(clip, text)
    assert [word.word for word in alignment.words] == ["four", "two", "play", "some", "music"]
    assert alignment.unaligned == [encdec.UnalignedWord("elephant", 2, 0)]
    assert [line.text for line in alignment.segments] == ["four two elephant", "play some music"]
    first, second = alignment.segments
    assert first.start is not None and abs(first.start - 0.10) < 0.06
    assert second.end is not None and abs(second.end - 2.44) < 0.11
    written = json.loads(alignment.to("json"))
    assert written["words"][0]["word"] == "four" and written["unaligned"][0]["word"] == "elephant"
    assert 'name = "words"' in alignment.to("textgrid")
    assert pickle.loads(pickle.dumps(alignment)) == alignment
    assert model.align([clip, NUMBERS / "clips/timer.wav"], [text, "set a timer"])[0] == alignment
    assert asyncio.run(model.aalign(clip, text)) == alignment
    nothing = model.align(clip, "elephants umbrellas\nplay some music").segments[0]
    assert (nothing.start, nothing.end) == (None, None)
    wrong: list[tuple[Any, Any, dict[str, Any], type[Exception], str]] = [
        (clip, "...", {}, encdec.InputError, "without a word"),
        (clip, None, {}, TypeError, "text: NoneType, expected str"),
        (clip, ["a", "b"], {}, ValueError, "text: 2 texts for 1 sources"),
        ([clip], "four", {}, TypeError, "expected a list with one text"),
        (clip, "four", {"beam_size": 2}, TypeError, "beam_size"),
    ]
    for audio, text, options, error, message in wrong:
        with pytest.raises(error, match=message):
            model.align(audio, text, **options)


def test_transcripts_are_awaited(speech_model: encdec.Model) -> None:
    recordings = [noise(0.3 * length, seed=length) for length in range(1, 4)]
    expected = speech_model.transcribe(recordings, word_timestamps=True)
    together, *single = awaited(
        *(speech_model.atranscribe(each, word_timestamps=True) for each in [recordings, *recordings])
    )
    assert together == single == expected
    found = asyncio.run(speech_model.atranscribe([recordings[0], None, b"RIFF"], on_error="null"))
    assert [each and each.text for each in found] == [expected[0].text, None, None]
    assert asyncio.run(speech_model.atranscribe([])) == []
    wrong: list[tuple[Any, dict[str, Any], type[Exception]]] = [
        (b"RIFF", {}, encdec.FileError),
        ("missing.wav", {}, encdec.FileError),
        (recordings[0], {"patience": 101}, encdec.ConfigError),
        (recordings[0], {"beams": 2}, TypeError),
    ]
    for audio, options, error in wrong:
        with pytest.raises(error):
            asyncio.run(speech_model.atranscribe(audio, **options))

    async def cancel_soon() -> None:
        task = asyncio.create_task(speech_model.atranscribe(numpy.tile(noise(10), 180), beam_size=40))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await speech_model.atranscribe(recordings[0]) == speech_model.transcribe(recordings[0])

    asyncio.run(cancel_soon())


def test_types_and_examples(speech_model: encdec.Model, recording: Path) -> None:
    expect_examples_to_run("encdec.speech", speech_model=speech_model, recording=recording)
    expect_stub_to_be_complete("encdec.speech._engine")
    assert set(options.TranscribeOptions.__annotations__) == options.TRANSCRIBE
