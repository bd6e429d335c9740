"""Speech recognition by a small model with random weights, with OpenAI's own client and with requests of other clients."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import OpenAI

import http_door
from serving import EMBEDDER, NUMBERS, PROGRAM, PRONUNCIATION, WHISPER, Server, metric, model_arguments, noise, running

SEGMENT_KEYS = ["id", "seek", "start", "end", "text", "tokens", "temperature", "avg_logprob", "compression_ratio"]
SEGMENT_KEYS += ["no_speech_prob"]


@pytest.fixture(scope="module")
def whisper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "whisper"
    shutil.copytree(WHISPER, folder)
    settings = json.loads((folder / "generation_config.json").read_text(encoding="utf-8"))
    settings |= {"is_multilingual": True, "alignment_heads": [[0, 0], [1, 1]]}
    (folder / "generation_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("recordings") / "noise.wav"
    file.write_bytes(noise(2.3))
    return file


@pytest.fixture(scope="module")
def hearing(whisper: Path) -> Iterator[Server]:
    models = {"english-pronunciation": PRONUNCIATION, "whisper": whisper, "numbers": NUMBERS, "embedder": EMBEDDER}
    with running(*model_arguments(models)) as server:
        yield server


@pytest.fixture
def client(hearing: Server) -> OpenAI:
    return OpenAI(base_url=hearing.url + "/v1", api_key="any-key", max_retries=0)


def transcribed(folder: Path, file: Path, *words: str, output_format: str = "json") -> str:
    """Returns the output of `encdec transcribe`."""
    command = [PROGRAM, "transcribe", "--model", folder, "--threads", "1", "--quiet", "--output-format", output_format]
    return subprocess.run([*command, *words, file], stdout=subprocess.PIPE, text=True, check=True).stdout


def transcribed_json(folder: Path, file: Path, *words: str) -> Any:
    return json.loads(transcribed(folder, file, *words))


def post(server: Server, path: str, fields: dict[str, str], file: bytes) -> bytes:
    """Sends a form with a file. Raises urllib.error.HTTPError."""
    body, media_type = http_door.form(fields, "a.wav", file)
    request = urllib.request.Request(server.url + path, body, {"Content-Type": media_type})
    with urllib.request.urlopen(request, timeout=120) as answer:
        content: bytes = answer.read()
        return content


def get(server: Server, path: str) -> str:
    with urllib.request.urlopen(server.url + path, timeout=60) as answer:
        text: str = answer.read().decode()
        return text


def test_verbose_json(client: OpenAI, whisper: Path, recording: Path) -> None:
    wanted = transcribed_json(whisper, recording)
    answer = client.audio.transcriptions.create(model="whisper", file=recording, response_format="verbose_json")
    assert answer.text == wanted["text"].strip()
    assert answer.language.islower()
    assert len(answer.language) > 3
    assert answer.usage is not None
    assert answer.usage.seconds == math.ceil(answer.duration)
    assert answer.words is None
    segments = [each.model_dump() for each in answer.segments or []]
    assert segments == wanted["segments"]
    assert all(set(each) == set(SEGMENT_KEYS) for each in segments)
    assert (answer.model_extra or {})["task"] == "transcribe"


def test_words(client: OpenAI, whisper: Path, recording: Path) -> None:
    wanted = transcribed_json(whisper, recording, "--word-timestamps")
    words = [
        {"word": each["word"].strip(), "start": each["start"], "end": each["end"]}
        for segment in wanted["segments"]
        for each in segment["words"]
    ]
    assert words
    ask = client.audio.transcriptions.create
    answer = ask(model="whisper", file=recording, response_format="verbose_json", timestamp_granularities=["word"])
    assert [each.model_dump() for each in answer.words or []] == words
    assert answer.segments is None
    both: Any = ["word", "segment"]
    answer = ask(model="whisper", file=recording, response_format="verbose_json", timestamp_granularities=both)
    assert [each.model_dump() for each in answer.words or []] == words
    segments = [{key: each[key] for key in SEGMENT_KEYS} for each in wanted["segments"]]
    assert [each.model_dump() for each in answer.segments or []] == segments
    # The form of openai/whisper.
    own = ask(model="whisper", file=recording, response_format="verbose_json", extra_body={"word_timestamps": True})
    assert [each.model_dump() for each in own.segments or []] == wanted["segments"]
    assert own.words is None


@pytest.mark.parametrize("words", [[], ["--word-timestamps", "--max-words-per-line", "2"]])
@pytest.mark.parametrize("name", ["srt", "vtt"])
def test_subtitles(client: OpenAI, whisper: Path, recording: Path, name: Any, words: list[str]) -> None:
    more = {"word_timestamps": "true", "max_words_per_line": "2"} if words else {}
    answer = client.audio.transcriptions.create(model="whisper", file=recording, response_format=name, extra_body=more)
    assert answer == transcribed(whisper, recording, *words, output_format=name)


def test_texts(client: OpenAI, hearing: Server, whisper: Path, recording: Path) -> None:
    text = transcribed_json(whisper, recording)["text"].strip()
    answer = client.audio.transcriptions.create(model="whisper", file=recording)
    assert answer.text == text != ""
    assert answer.usage is not None and answer.usage.type == "duration"
    plain: Any = client.audio.transcriptions.create(model="whisper", file=recording, response_format="text")
    assert plain == text + "\n"
    unnamed = json.loads(post(hearing, "/v1/audio/transcriptions", {}, recording.read_bytes()))
    assert unnamed["text"] == text  # by the first model that transcribes


def test_stream(client: OpenAI, whisper: Path, recording: Path) -> None:
    wanted = transcribed_json(whisper, recording)
    *deltas, done = client.audio.transcriptions.create(model="whisper", file=recording, stream=True)
    assert (done.type, done.text) == ("transcript.text.done", wanted["text"].strip())
    assert "".join(each.delta for each in deltas if each.type == "transcript.text.delta") == wanted["text"].lstrip()
    assert len(deltas) == sum(each["text"] != "" for each in wanted["segments"])
    wanted = transcribed_json(whisper, recording, "--word-timestamps")
    options: dict[str, Any] = {"response_format": "verbose_json", "extra_body": {"word_timestamps": True}}
    *deltas, done = client.audio.transcriptions.create(model="whisper", file=recording, stream=True, **options)
    assert [(each.model_extra or {})["segment"] for each in deltas] == wanted["segments"]
    more = done.model_extra or {}
    assert more["segments"] == wanted["segments"] and more["task"] == "transcribe" and more["duration"] > 0


def test_translations(client: OpenAI, whisper: Path, recording: Path) -> None:
    wanted = transcribed_json(whisper, recording, "--task", "translate")
    assert client.audio.translations.create(model="whisper", file=recording).text == wanted["text"].strip()
    # Translations have no parameter "language": any value is ignored.
    more = {"language": "xx"}
    verbose = client.audio.translations.create(
        model="whisper", file=recording, response_format="verbose_json", extra_body=more
    )
    assert verbose.language == "english"
    assert [each.model_dump() for each in verbose.segments or []] == wanted["segments"]
    srt = client.audio.translations.create(model="whisper", file=recording, response_format="srt")
    assert srt == transcribed(whisper, recording, "--task", "translate", output_format="srt")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"language": "de"}, ["--language", "de"]),
        ({"language": "de-AT"}, ["--language", "de"]),
        ({"language": "auto", "unknown": "1"}, []),
        ({"language": "", "temperature": "", "prompt": "", "beam_size": ""}, []),
        ({"prompt": "names"}, ["--initial-prompt", "names"]),
        ({"temperature": "0.4"}, ["--temperature", "0.4"]),
        ({"temperature_inc": "0"}, ["--temperature-increment-on-fallback", "none"]),
        ({"beam_size": "-1", "temperature_inc": "0.2"}, []),
        ({"condition_on_previous_text": "False"}, ["--no-condition-on-previous-text"]),
        ({"no_speech_threshold": "0.0001", "log_prob_threshold": "0"},
         ["--no-speech-threshold", "0.0001", "--logprob-threshold", "0"]),
        ({"compression_ratio_threshold": "none", "logprob_threshold": "none"},
         ["--compression-ratio-threshold", "none", "--logprob-threshold", "none"]),
        ({"without_timestamps": "true"}, ["--no-timestamps"]),
        ({"clip_timestamps": "0.5,1.5"}, ["--clip-timestamps", "0.5,1.5"]),
        ({"suppress_tokens": "5,6"}, ["--suppress-tokens", "5,6"]),
        ({"vad_filter": "false"}, []),
        ({"rules": "openai", "chunk_length": "0"}, ["--rules", "openai"]),
    ],
)  # fmt: skip
def test_options(hearing: Server, whisper: Path, recording: Path, fields: dict[str, str], words: list[str]) -> None:
    fields = {"model": "whisper", "response_format": "verbose_json", **fields}
    answer = json.loads(post(hearing, "/v1/audio/transcriptions", fields, recording.read_bytes()))
    assert answer["segments"] == transcribed_json(whisper, recording, *words)["segments"]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"temperature": "100.5"}, "temperature"),
        ({"temperature": "hot"}, "temperature"),
        ({"response_format": "diarized_json"}, "response_format"),
        ({"timestamp_granularities[]": "word"}, "verbose_json"),
        ({"timestamp_granularities[]": "line", "response_format": "verbose_json"}, "'line'"),
        ({"beam_size": "17"}, "beam_size"),
        ({"rules": "transformers"}, "'rules' is 'transformers', expected openai"),
        ({"suppress_tokens": "5,"}, "suppress_tokens"),
        ({"clip_timestamps": "2,1"}, "clip_timestamps"),
        ({"no_speech_threshold": "60"}, "'no_speech_threshold' is '60', expected a number from 0 to 1"),
        ({"stream": "true", "response_format": "srt"}, "stream"),
        ({"stream": "maybe"}, "stream"),
        ({"stream": "true", "language": "xx"}, "'xx'"),
        ({"max_words_per_line": "0"}, "max_words_per_line"),
        ({"vad_filter": "true"}, "--vad-model"),
        ({"prompt": "a" * 70_000}, "65536"),
    ],
)
def test_bad_parameters(hearing: Server, whisper: Path, recording: Path, fields: dict[str, str], named: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as error:
        post(hearing, "/v1/audio/transcriptions", fields, recording.read_bytes())
    assert error.value.code == 400
    answer = json.loads(error.value.read())["error"]
    assert named in answer["message"]
    assert answer["type"] == "invalid_request_error"
    assert str(whisper) not in answer["message"]


@pytest.mark.parametrize("content", [b"", b"RIFF", b"no recording at all", noise(1)[:40], b"fLaC" + bytes(100)])
def test_damaged_recordings(hearing: Server, content: bytes) -> None:
    for fields in ({}, {"stream": "true"}):
        with pytest.raises(urllib.error.HTTPError) as error:
            post(hearing, "/v1/audio/transcriptions", fields, content)
        message = error.value.read().decode()
        assert error.value.code == 400 and "'file'" in message and "ffmpeg" not in message


def test_known_texts(hearing: Server, tmp_path: Path) -> None:
    clip, text = NUMBERS / "clips/timer.wav", tmp_path / "timer.txt"
    text.write_text("set a timer\nfor ten minutes\n")

    def ask(**fields: str) -> str:
        return post(hearing, "/v1/audio/alignments", {"model": "numbers", **fields}, clip.read_bytes()).decode()

    command = [PROGRAM, "align", "--model", NUMBERS, "--text", text, clip, "--output-format"]
    for name in ("json", "srt", "vtt", "tsv", "textgrid"):
        wanted = subprocess.run([*command, name], stdout=subprocess.PIPE, text=True, check=True).stdout
        found = ask(text=text.read_text(), response_format=name)
        assert json.loads(found) == json.loads(wanted) if name == "json" else found == wanted
    for fields, part in (
        ({}, "'text' is missing or empty"),
        ({"text": "a" * 200_000}, "a text of 200000 bytes, expected at most 128317 for 2.0 s of audio"),
        ({"text": "one", "response_format": "xml"}, "expected one of json, srt, vtt, tsv, textgrid"),
        ({"text": "one", "language": "de"}, "'de'"),
    ):
        with pytest.raises(urllib.error.HTTPError, match="400") as error:
            ask(**fields)
        message = error.value.read().decode()
        assert part in message and "invalid_request_error" in message


def test_no_form(hearing: Server) -> None:
    for media_type in ("application/json", "audio/wav"):
        request = urllib.request.Request(
            hearing.url + "/v1/audio/transcriptions", noise(0.1), {"Content-Type": media_type}
        )
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(request, timeout=60)
        assert error.value.code == 415
        assert "multipart/form-data" in error.value.read().decode()


def test_models_that_do_something_else(client: OpenAI, hearing: Server, recording: Path) -> None:
    with pytest.raises(openai.NotFoundError, match=r"'nobody'.*whisper"):
        client.audio.transcriptions.create(model="nobody", file=recording)
    for name, does in (("english-pronunciation", "generates text"), ("embedder", "embeds texts")):
        with pytest.raises(openai.NotFoundError, match=f"{does}, expected one that transcribes recordings: whisper"):
            client.audio.transcriptions.create(model=name, file=recording)
    with pytest.raises(openai.NotFoundError, match="transcribes recordings, expected one that generates text"):
        client.completions.create(model="whisper", prompt="a")
    with pytest.raises(openai.NotFoundError, match="transcribes recordings, expected one that embeds texts"):
        client.embeddings.create(model="whisper", input="a")
    body = {"model": "whisper", "inputs": "a"}
    with pytest.raises(urllib.error.HTTPError, match="404") as error:
        urllib.request.urlopen(hearing.url + "/v1/generate", json.dumps(body).encode(), timeout=60)
    assert "transcribes recordings" in error.value.read().decode()
    # A request without a model name goes to a model that transcribes.
    assert client.completions.create(model="", prompt="cat").choices[0].text == "K AE1 T"


def test_models(client: OpenAI, hearing: Server) -> None:
    listed = {each.id: each.model_extra or {} for each in client.models.list().data}
    assert listed["whisper"]["task"] == "automatic-speech-recognition"
    assert {"en", "de"} <= set(listed["whisper"]["language"])
    assert "languages" not in listed["whisper"]
    assert "task" not in listed["embedder"]
    assert json.loads(get(hearing, "/info?model=whisper"))["model_type"] == {"transcription": {}}
    assert [each["code"] for each in json.loads(get(hearing, "/languages"))] == ["en"]  # languages of a text model


def test_metrics(hearing: Server) -> None:
    seconds, tokens = ('encdec_audio_seconds_total{model="whisper"}', 'encdec_generated_tokens_total{model="whisper"}')
    before = metric(hearing, seconds), metric(hearing, tokens)
    answer = json.loads(post(hearing, "/v1/audio/transcriptions", {"response_format": "verbose_json"}, noise(1.25)))
    assert metric(hearing, seconds) - before[0] == 1.25
    assert metric(hearing, tokens) - before[1] == sum(len(each["tokens"]) for each in answer["segments"])
