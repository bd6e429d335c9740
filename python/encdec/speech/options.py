"""The names and types of options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

from . import _engine

if TYPE_CHECKING:
    import os

    from .._options import Ids


class TranscribeOptions(TypedDict, total=False):
    """Options of ``transcribe``. None means the same as in openai-whisper: no threshold, greedy search for
    ``beam_size``, one sample for ``best_of``.
    """

    rules: Literal["openai"]
    language: str | None
    task: Literal["transcribe", "translate"]
    temperature: float | Sequence[float]
    beam_size: int | None
    best_of: int | None
    drafts: str | Sequence[str | None] | None
    num_assistant_tokens: int | None
    prompt_lookup_num_tokens: int | None
    patience: float | None
    length_penalty: float | None
    suppress_tokens: int | Ids | str | None
    seed: int | None
    initial_prompt: str | None
    prompt: str | None
    carry_initial_prompt: bool
    hotwords: str | None
    condition_on_previous_text: bool
    prompt_reset_on_temperature: float
    compression_ratio_threshold: float | None
    logprob_threshold: float | None
    log_prob_threshold: float | None
    logprob_thold: float | None
    no_speech_threshold: float | None
    no_speech_thold: float | None
    without_timestamps: bool
    no_timestamps: bool
    timestamps: bool
    max_initial_timestamp: float | None
    word_timestamps: bool
    prepend_punctuations: str
    append_punctuations: str
    hallucination_silence_threshold: float | None
    clip_timestamps: float | Sequence[float] | str
    vad_model: str | os.PathLike[str] | None
    vad_parameters: Mapping[str, float] | None
    batch_size: int | None
    workers: int | None
    fp16: Literal[False] | None
    verbose: Literal[False] | None


class LiveOptions(TranscribeOptions, total=False):
    finds_utterances: bool
    step_ms: int
    silence_duration_ms: int
    prefix_padding_ms: int
    threshold: float
    max_utterance_s: float


class AlignOptions(TypedDict, total=False):
    language: str | None
    vad_model: str | os.PathLike[str] | None
    vad_parameters: Mapping[str, float] | None
    batch_size: int | None
    workers: int | None


class TranscriptLineOptions(TypedDict, total=False):
    """Options for subtitles, as in openai-whisper."""

    max_line_width: int | None
    max_line_count: int | None
    max_words_per_line: int | None
    highlight_words: bool


TRANSCRIBE = frozenset([*_engine.transcribe_option_names(), "drafts"])
LIVE = frozenset(_engine.live_option_names())
ALIGN = frozenset(AlignOptions.__annotations__)
LINES = frozenset(TranscriptLineOptions.__annotations__)
