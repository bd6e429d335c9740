"""Pipelines with the calls and the results of transformers' pipelines, as of its version 4."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from . import _recordings
from ._errors import ConfigError
from .model import Model, open_model

if TYPE_CHECKING:
    from ._recordings import Recording
    from .transcript import Transcript

_RETURN_NAMES = {
    "translation": "translation",
    "summarization": "summary",
    "text2text-generation": "generated",
    "feature-extraction": "",
    "automatic-speech-recognition": "",
}


#: Names of transformers, and ours for the same options.
_SPEECH_NAMES = {"num_beams": "beam_size", "condition_on_prev_tokens": "condition_on_previous_text"}


class Pipeline:
    """A pipeline, made by ``pipeline()``. Call it with a text or a recording, or a list or an iterator of them."""

    def __init__(self, task: str, model: Model, call: Callable[..., Any]) -> None:
        self.task = task
        self.model = model
        self._call = call

    def __call__(self, inputs: Recording | Iterable[Recording], **options: Any) -> Any:
        return self._call(inputs, **options)

    def __repr__(self) -> str:
        return f"encdec.pipeline({self.task!r}, {self.model!r})"


def pipeline(task: str, model: str | os.PathLike[str] | Model, **options: Any) -> Pipeline:
    """Returns a pipeline for a task. ``model`` is a folder or a ``Model``. Options are those of ``Model``.

    Tasks: ``"translation"`` or ``"translation_en_to_fr"``, ``"summarization"``, ``"text2text-generation"``,
    ``"feature-extraction"`` and ``"automatic-speech-recognition"``. Raises ConfigError for other tasks.

    >>> encdec.pipeline("translation", model=path)("world")
    [{'translation_text': 'W ER1 L D'}]
    """
    words = task.split("_")
    kind = "translation" if words[0] == "translation" and len(words) in (1, 4) else task
    if kind not in _RETURN_NAMES:
        raise ConfigError(f"task is {task!r}, expected one of {', '.join(_RETURN_NAMES)}")
    if not isinstance(model, Model):
        model = open_model(model, **options)
    elif options:
        raise TypeError("pipeline() got options for loading, but the model is loaded already")
    if kind == "feature-extraction":
        return Pipeline(task, model, _FeatureExtraction(model))
    if kind == "automatic-speech-recognition":
        return Pipeline(task, model, _SpeechRecognition(model))
    languages = {"src_lang": words[1], "tgt_lang": words[3]} if len(words) == 4 else {}
    return Pipeline(task, model, _TextToText(task, model, _RETURN_NAMES[kind], languages))


class _TextToText:
    def __init__(self, task: str, model: Model, name: str, languages: dict[str, str]) -> None:
        self._model = model
        self._name = name
        self._defaults = _task_options(model, task)
        self._prefix: str = self._defaults.pop("prefix", "")
        if model.tokenizer is not None and model.tokenizer.languages:
            self._defaults.update(languages)

    def __call__(
        self,
        inputs: Any,
        *,
        return_tensors: bool | None = None,
        return_text: bool | None = None,
        clean_up_tokenization_spaces: bool | None = None,
        truncation: bool | str | None = None,
        **options: Any,
    ) -> Any:
        merged = {**self._defaults, **options}
        if truncation is not None and truncation is not False:
            merged.setdefault("long_sources", "truncate")
        as_ids = bool(return_tensors) and not return_text

        def records(result: Any) -> list[dict[str, Any]]:
            if as_ids:
                return [{f"{self._name}_token_ids": each.token_ids} for each in result.hypotheses]
            return [{f"{self._name}_text": each.text} for each in result.hypotheses]

        if isinstance(inputs, str):
            return records(self._model.generate(self._prefix + inputs, **merged)[0])
        if isinstance(inputs, Iterator):
            sources = (self._prefix + each for each in inputs)
            return (records(each) for each in self._model.generate_iter(sources, **merged))
        found = [records(each) for each in self._model.generate([self._prefix + each for each in inputs], **merged)]
        return [each[0] for each in found] if all(len(each) == 1 for each in found) else found


class _FeatureExtraction:
    def __init__(self, model: Model) -> None:
        if model.config["decoder"] is not None:
            raise ConfigError(f"{model.path}: a model with a decoder, expected an encoder-only one")
        self._model = model

    def __call__(self, inputs: Any, *, return_tensors: bool | None = None, truncation: Any = None) -> Any:
        if not isinstance(inputs, str):
            return [self(each, return_tensors=return_tensors, truncation=truncation) for each in inputs]
        tokenizer = self._model.tokenizer
        if tokenizer is None:
            raise ConfigError(f"{self._model.path}: no tokenizer files")
        most = self._model.config["encoder"]["positions"] if truncation else None
        states = self._model.forward([tokenizer.encode(inputs, max_length=most or 0)]).encoder_last_hidden_state
        assert states is not None
        return states if return_tensors else states.tolist()


class _SpeechRecognition:
    def __init__(self, model: Model) -> None:
        self._model = model

    def __call__(
        self,
        inputs: Any,
        *,
        return_timestamps: bool | Literal["word"] | None = None,
        generate_kwargs: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Any:
        if return_timestamps not in (None, False, True, "word"):
            raise ConfigError(f"return_timestamps is {return_timestamps!r}, expected True, False or 'word'")
        merged = {_SPEECH_NAMES.get(name, name): value for name, value in {**(generate_kwargs or {}), **options}.items()}
        if return_timestamps == "word":
            merged["word_timestamps"] = True

        def record(transcript: Transcript) -> dict[str, Any]:
            found: dict[str, Any] = {"text": transcript.text}
            if return_timestamps:
                found["chunks"] = _chunks(transcript, return_timestamps == "word")
            return found

        if isinstance(inputs, Iterator) and not _recordings.is_single(inputs):
            return (record(self._model.transcribe(each, **merged)) for each in inputs)
        found = self._model.transcribe(inputs, **merged)
        return [record(each) for each in found] if isinstance(found, list) else record(found)


def _chunks(transcript: Transcript, of_words: bool) -> list[dict[str, Any]]:
    parts = [(each.start, each.end, each.text) for each in transcript.segments]
    if of_words:
        words = [word for segment in transcript.segments for word in segment.words or ()]
        parts = [(each.start, each.end, each.word) for each in words]
    return [{"timestamp": (start, end), "text": text} for start, end, text in parts]


def _task_options(model: Model, task: str) -> dict[str, Any]:
    """Returns the options for a task in config.json: for T5 a prefix, lengths and beams."""
    try:
        config = json.loads(Path(model.path, "config.json").read_bytes())
        params = config["task_specific_params"][task]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return dict(params) if isinstance(params, dict) else {}
