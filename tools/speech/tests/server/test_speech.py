"""Speech recognition, with OpenAI's own client and with requests of other clients.

The model is small and has random weights. To test another model by hand, set ENCDEC_WHISPER to its folder and
ENCDEC_RECORDING to a recording.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
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

from serving import EMBEDDER, NUMBERS, PROGRAM, PRONUNCIATION, WHISPER, Server, model_arguments, noise, running

SEGMENT_KEYS = ["id", "seek", "start", "end", "text", "tokens", "temperature", "avg_logprob", "compression_ratio"]
SEGMENT_KEYS += ["no_speech_prob"]
BOTH: Any = ["word", "segment"]


@pytest.fixture(scope="module")
def whisper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if "ENCDEC_WHISPER" in os.environ:
        return Path(os.environ["ENCDEC_WHISPER"])
    folder = tmp_path_factory.mktemp("models") / "whisper"
    shutil.copytree(WHISPER, folder)
    settings = json.loads((folder / "generation_config.json").read_text(encoding="utf-8"))
    settings |= {"is_multilingual": True, "alignment_heads": [[0, 0], [1, 1]]}
    (folder / "generation_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def is_multilingual(whisper: Path) -> bool:
    settings = json.loads((whisper / "generation_config.json").read_text(encoding="utf-8"))
    return bool(settings.get("is_multilingual"))


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if "ENCDEC_RECORDING" in os.environ:
        return Path(os.environ["ENCDEC_RECORDING"])
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


def post(server: Server, path: str, fields: dict[str, str], file: bytes, headers: dict[str, str] | None = None) -> bytes:
    """Sends a form with a file. Raises urllib.error.HTTPError."""
    boundary = "a-line-between-two-parts"
    parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()]
    parts.append(f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n')
    body = "".join(parts).encode() + file + f"\r\n--{boundary}--\r\n".encode()
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}", **(headers or {})}
    with urllib.request.urlopen(urllib.request.Request(server.url + path, body, headers), timeout=120) as answer:
        content: bytes = answer.read()
        return content


def get(server: Server, path: str) -> str:
    with urllib.request.urlopen(server.url + path, timeout=60) as answer:
        text: str = answer.read().decode()
        return text


def metric(server: Server, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$", get(server, "/metrics"), re.MULTILINE)
    return float(found[1]) if found else 0.0


def test_the_bundled_model_hears_a_clip(client: OpenAI) -> None:
    answer = client.audio.transcriptions.create(model="numbers", file=NUMBERS / "clips/timer.wav")
    assert answer.text == "set a timer for ten minutes"


def test_json(client: OpenAI, whisper: Path, recording: Path) -> None:
    wanted = transcribed_json(whisper, recording)
    answer = client.audio.transcriptions.create(model="whisper", file=recording)
    assert answer.text == wanted["text"].strip()
    assert answer.text
    assert answer.usage is not None
    assert answer.usage.type == "duration"


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
    answer = ask(model="whisper", file=recording, response_format="verbose_json", timestamp_granularities=BOTH)
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


def test_text(client: OpenAI, whisper: Path, recording: Path) -> None:
    answer = client.audio.transcriptions.create(model="whisper", file=recording, response_format="text")
    assert answer == transcribed_json(whisper, recording)["text"].strip() + "\n"


def test_stream(client: OpenAI, whisper: Path, recording: Path) -> None:
    wanted = transcribed_json(whisper, recording)
    *deltas, done = client.audio.transcriptions.create(model="whisper", file=recording, stream=True)
    assert done.type == "transcript.text.done"
    assert done.text == wanted["text"].strip()
    assert {each.type for each in deltas} == {"transcript.text.delta"}
    texts = "".join(each["text"] for each in wanted["segments"])
    assert "".join(each.delta for each in deltas if each.type == "transcript.text.delta") == texts.lstrip()
    assert len(deltas) == sum(each["text"] != "" for each in wanted["segments"])


def test_stream_with_times(client: OpenAI, whisper: Path, recording: Path) -> None:
    wanted = transcribed_json(whisper, recording, "--word-timestamps")
    options: dict[str, Any] = {"response_format": "verbose_json", "extra_body": {"word_timestamps": True}}
    *deltas, done = client.audio.transcriptions.create(model="whisper", file=recording, stream=True, **options)
    assert [(each.model_extra or {})["segment"] for each in deltas] == wanted["segments"]
    more = done.model_extra or {}
    assert more["segments"] == wanted["segments"]
    assert more["task"] == "transcribe"
    assert more["duration"] > 0


def test_translations(client: OpenAI, whisper: Path, recording: Path, is_multilingual: bool) -> None:
    if not is_multilingual:
        with pytest.raises(openai.BadRequestError, match="English alone"):
            client.audio.translations.create(model="whisper", file=recording)
        return
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
        ({"language": "en"}, ["--language", "en"]),
        ({"language": "de"}, ["--language", "de"]),
        ({"language": "de-AT"}, ["--language", "de"]),
        ({"language": "auto", "unknown": "1"}, []),
        ({"language": "", "temperature": "", "prompt": "", "beam_size": ""}, []),
        ({"prompt": "names"}, ["--initial-prompt", "names"]),
        ({"temperature": "0"}, []),
        ({"temperature": "0.4"}, ["--temperature", "0.4"]),
        ({"temperature": "1"}, ["--temperature", "1"]),
        ({"temperature_inc": "0"}, ["--temperature-increment-on-fallback", "none"]),
        ({"beam_size": "-1", "temperature_inc": "0.2"}, []),
        ({"beam_size": "2", "best_of": "3"}, ["--beam-size", "2", "--best-of", "3"]),
        ({"hotwords": "an"}, ["--hotwords", "an"]),
        ({"condition_on_previous_text": "False"}, ["--no-condition-on-previous-text"]),
        ({"no_speech_threshold": "0.0001", "log_prob_threshold": "0"},
         ["--no-speech-threshold", "0.0001", "--logprob-threshold", "0"]),
        ({"compression_ratio_threshold": "none", "logprob_threshold": "none"},
         ["--compression-ratio-threshold", "none", "--logprob-threshold", "none"]),
        ({"without_timestamps": "true"}, ["--no-timestamps"]),
        ({"clip_timestamps": "0.5,1.5"}, ["--clip-timestamps", "0.5,1.5"]),
        ({"suppress_tokens": "5,6"}, ["--suppress-tokens", "5,6"]),
        ({"seed": "7", "temperature": "0.8"}, ["--seed", "7", "--temperature", "0.8"]),
        ({"patience": "2", "length_penalty": "0.5"}, ["--patience", "2", "--length-penalty", "0.5"]),
        ({"max_initial_timestamp": "none"}, ["--max-initial-timestamp", "none"]),
        ({"vad_filter": "false"}, []),
        ({"rules": "openai", "chunk_length": "0"}, ["--rules", "openai"]),
    ],
)  # fmt: skip
def test_options(
    hearing: Server, whisper: Path, recording: Path, is_multilingual: bool, fields: dict[str, str], words: list[str]
) -> None:
    if "de" in words and not is_multilingual:
        pytest.skip("the model knows English alone")
    fields = {"model": "whisper", "response_format": "verbose_json", **fields}
    answer = json.loads(post(hearing, "/v1/audio/transcriptions", fields, recording.read_bytes()))
    assert answer["segments"] == transcribed_json(whisper, recording, *words)["segments"]


def test_the_first_model_that_hears(hearing: Server, whisper: Path, recording: Path) -> None:
    answer = json.loads(post(hearing, "/v1/audio/transcriptions", {}, recording.read_bytes()))
    assert answer["text"] == transcribed_json(whisper, recording)["text"].strip()


def test_company_does_not_change_a_transcript(hearing: Server, whisper: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"{i}.wav" for i in range(8)]
    for i, file in enumerate(files):
        file.write_bytes(noise(0.5 + 0.3 * i, seed=i))

    async def transcribe() -> list[Any]:
        async with openai.AsyncOpenAI(base_url=hearing.url + "/v1", api_key="any-key", max_retries=0) as client:
            return await asyncio.gather(
                *(client.audio.transcriptions.create(model="whisper", file=file) for file in files * 2)
            )

    texts = [transcribed_json(whisper, file)["text"].strip() for file in files]
    assert [each.text for each in asyncio.run(transcribe())] == texts * 2


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"temperature": "100.5"}, "temperature"),
        ({"temperature": "hot"}, "temperature"),
        ({"temperature": "nan"}, "temperature"),
        ({"response_format": "diarized_json"}, "response_format"),
        ({"timestamp_granularities[]": "word"}, "verbose_json"),
        ({"timestamp_granularities[]": "line", "response_format": "verbose_json"}, "'line'"),
        ({"language": "xx"}, "'xx'"),
        ({"beam_size": "17"}, "beam_size"),
        ({"best_of": "0"}, "best_of"),
        ({"rules": "transformers"}, "'rules' is 'transformers', expected openai"),
        ({"suppress_tokens": "5,"}, "suppress_tokens"),
        ({"suppress_tokens": "5;6"}, "suppress_tokens"),
        ({"clip_timestamps": "2,1"}, "clip_timestamps"),
        ({"max_initial_timestamp": "100.5"}, "'max_initial_timestamp' is '100.5', expected a number from 0 to 100"),
        ({"patience": "101"}, "'patience' is '101', expected a number from 0 to 100"),
        ({"no_speech_threshold": "60"}, "'no_speech_threshold' is '60', expected a number from 0 to 1"),
        ({"chunk_length": "30"}, "'chunk_length' is '30', expected 0"),
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
        assert error.value.code == 400
        assert "'file'" in error.value.read().decode()


def test_silence_is_nothing(client: OpenAI, whisper: Path, tmp_path: Path) -> None:
    file = tmp_path / "empty.wav"
    file.write_bytes(noise(0))
    answer = client.audio.transcriptions.create(model="whisper", file=file, response_format="verbose_json")
    assert (answer.text, answer.segments, answer.duration) == ("", [], 0)


def test_no_form(hearing: Server) -> None:
    for media_type in ("application/json", "audio/wav"):
        request = urllib.request.Request(
            hearing.url + "/v1/audio/transcriptions", noise(0.1), {"Content-Type": media_type}
        )
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(request, timeout=60)
        assert error.value.code == 415
        assert "multipart/form-data" in error.value.read().decode()


def test_unknown_model(client: OpenAI, recording: Path) -> None:
    with pytest.raises(openai.NotFoundError, match=r"'nobody'.*whisper"):
        client.audio.transcriptions.create(model="nobody", file=recording)


def test_models_that_do_something_else(client: OpenAI, hearing: Server, recording: Path) -> None:
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
    # A request without a model's name is answered by a model that can.
    assert client.completions.create(model="", prompt="cat").choices[0].text == "K AE1 T"


def test_no_model_that_hears(server: Server) -> None:
    with pytest.raises(urllib.error.HTTPError) as error:
        post(server, "/v1/audio/transcriptions", {}, noise(0.1))
    assert error.value.code == 404
    assert "no model here transcribes recordings" in error.value.read().decode()


def test_models(client: OpenAI, hearing: Server, is_multilingual: bool) -> None:
    listed = {each.id: each.model_extra or {} for each in client.models.list().data}
    assert listed["whisper"]["task"] == "automatic-speech-recognition"
    assert {"en", "de"} <= set(listed["whisper"]["language"]) or not is_multilingual
    assert "languages" not in listed["whisper"]
    assert "task" not in listed["embedder"]
    assert json.loads(get(hearing, "/info?model=whisper"))["model_type"] == {"transcription": {}}
    assert [each["code"] for each in json.loads(get(hearing, "/languages"))] == ["en"]  # languages of texts only


def test_metrics(hearing: Server) -> None:
    seconds, tokens = ('encdec_audio_seconds_total{model="whisper"}', 'encdec_generated_tokens_total{model="whisper"}')
    before = metric(hearing, seconds), metric(hearing, tokens)
    answer = json.loads(post(hearing, "/v1/audio/transcriptions", {"response_format": "verbose_json"}, noise(1.25)))
    assert metric(hearing, seconds) - before[0] == 1.25
    assert metric(hearing, tokens) - before[1] == sum(len(each["tokens"]) for each in answer["segments"])


def test_long_bodies(hearing: Server, whisper: Path, tmp_path: Path) -> None:
    file = tmp_path / "large.wav"
    file.write_bytes(noise(0.9, rate=192_000, channels=20))
    assert file.stat().st_size > 4 << 20
    answer = json.loads(post(hearing, "/v1/audio/transcriptions", {}, file.read_bytes()))
    assert answer["text"] == transcribed_json(whisper, file)["text"].strip()
    for path in ("/translate", "/translate_file"):  # other routes have a smaller limit
        with pytest.raises((urllib.error.HTTPError, urllib.error.URLError), match="413|reset|pipe"):
            post(hearing, path, {}, file.read_bytes())


def test_time_limit(hearing: Server) -> None:
    with pytest.raises(urllib.error.HTTPError) as error:
        post(hearing, "/v1/audio/transcriptions", {}, noise(60), {"X-Request-Timeout-Ms": "100"})
    assert error.value.code == 504
