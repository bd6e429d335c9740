"""Pipelines with the interface and the results of transformers 4's pipelines."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from . import _slices
from ._errors import ConfigError
from .model import Model, open_model

_RETURN_NAMES = {
    "translation": "translation",
    "summarization": "summary",
    "text2text-generation": "generated",
    "feature-extraction": "",
}


class Pipeline:
    """A pipeline, made by ``pipeline()``. Call it with one text or recording, or with a list or iterator of them."""

    def __init__(self, task: str, model: Model, call: Callable[..., Any]) -> None:
        self.task = task
        self.model = model
        self._call = call

    def __call__(self, inputs: Any, **options: Any) -> Any:
        return self._call(inputs, **options)

    def __repr__(self) -> str:
        return f"encdec.pipeline({self.task!r}, {self.model!r})"


def pipeline(task: str, model: str | os.PathLike[str] | Model, **options: Any) -> Pipeline:
    """Returns a pipeline for a task. ``model`` is a ``Model``, or a folder to load with the options of ``Model``.

    Tasks: ``"translation"`` or ``"translation_en_to_fr"``, ``"summarization"``, ``"text2text-generation"``,
    ``"feature-extraction"`` and ``"automatic-speech-recognition"``. Raises ConfigError for other tasks.

    >>> encdec.pipeline("translation", model=path)("world")
    [{'translation_text': 'W ER1 L D'}]
    """
    words = task.split("_")
    kind = "translation" if words[0] == "translation" and len(words) in (1, 4) else task
    if kind not in _RETURN_NAMES and kind not in _slices.PIPELINES:
        raise ConfigError(f"task is {task!r}, expected one of {', '.join([*_RETURN_NAMES, *_slices.PIPELINES])}")
    if not isinstance(model, Model):
        model = open_model(model, **options)
    elif options:
        raise TypeError("pipeline() got options for loading, but the model is loaded already")
    if kind == "feature-extraction":
        return Pipeline(task, model, _FeatureExtraction(model))
    if kind in _slices.PIPELINES:
        return Pipeline(task, model, _slices.PIPELINES[kind](model))
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


def _task_options(model: Model, task: str) -> dict[str, Any]:
    """Returns the task's options in config.json: for T5, a prefix, lengths and beams."""
    try:
        config = json.loads(Path(model.path, "config.json").read_bytes())
        params = config["task_specific_params"][task]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return dict(params) if isinstance(params, dict) else {}
