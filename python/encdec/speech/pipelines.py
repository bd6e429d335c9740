"""A pipeline with the interface of transformers' speech pipeline, version 4."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from .._errors import ConfigError
from . import recordings

if TYPE_CHECKING:
    from .methods import Model
    from .transcript import Transcript

#: transformers' names of options, with our names.
_SPEECH_NAMES = {"num_beams": "beam_size", "condition_on_prev_tokens": "condition_on_previous_text"}


class SpeechRecognition:
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

        if isinstance(inputs, Iterator) and not recordings.is_single(inputs):
            return (record(self._model.transcribe(each, **merged)) for each in inputs)
        found = self._model.transcribe(inputs, **merged)
        return [record(each) for each in found] if isinstance(found, list) else record(found)


def _chunks(transcript: Transcript, of_words: bool) -> list[dict[str, Any]]:
    parts = [(each.start, each.end, each.text) for each in transcript.segments]
    if of_words:
        words = [word for segment in transcript.segments for word in segment.words or ()]
        parts = [(each.start, each.end, each.word) for each in words]
    return [{"timestamp": (start, end), "text": text} for start, end, text in parts]
