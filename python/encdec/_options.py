"""The names and types of options, for type checkers, and advice for unknown names."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

from . import _encdec
from ._errors import ConfigError

if TYPE_CHECKING:
    import os
    from typing import SupportsIndex

    Ids = Sequence[SupportsIndex]


Precision = Literal["float32", "bfloat16", "int8", "auto"]
Backend = Literal["auto", "onednn", "encdec"]


class GenerateOptions(TypedDict, total=False):
    """Options of Hugging Face's GenerationConfig, and of a call. None means the value in the checkpoint."""

    num_beams: int | None
    num_return_sequences: int | None
    max_length: int | None
    max_new_tokens: int | None
    max_length_factor: float | None
    min_length: int | None
    min_new_tokens: int | None
    length_penalty: float | None
    early_stopping: bool | Literal["never"] | None
    coverage_penalty: float | None
    exponential_decay_length_penalty: tuple[int, float] | None
    do_sample: bool | None
    temperature: float | None
    top_k: int | None
    top_p: float | None
    seed: int | None
    repetition_penalty: float | None
    encoder_repetition_penalty: float | None
    no_repeat_ngram_size: int | None
    encoder_no_repeat_ngram_size: int | None
    bad_words: Sequence[Ids] | None
    bad_words_ids: Sequence[Ids] | None
    force_words: Sequence[Ids] | None
    force_words_ids: Sequence[Ids] | None
    suppress_tokens: Ids | None
    begin_suppress_tokens: Ids | None
    forced_bos_token: int | None
    forced_bos_token_id: int | None
    forced_eos_tokens: int | Ids | None
    forced_eos_token_id: int | Ids | None
    eos_tokens: int | Ids | None
    eos_token_id: int | Ids | None
    decoder_start_token: int | None
    decoder_start_token_id: int | None
    shortlist: Ids | None
    lexical_shortlist: bool | None
    source_lang: str | None
    src_lang: str | None
    target_lang: str | None
    tgt_lang: str | None
    max_source_tokens: int | None
    long_sources: Literal["error", "truncate"] | None
    top_log_probs: int | None
    drafts: Sequence[str | Ids | None] | None
    draft_source: bool | None
    num_assistant_tokens: int | None
    prompt_lookup_num_tokens: int | None
    attention: bool | Mapping[str, Any] | None
    batch_size: int | None
    workers: int | None


class EmbedTokensOptions(TypedDict, total=False):
    prompt: str | None
    prompt_name: str | None
    long_texts: Literal["error", "truncate"] | None
    batch_size: int | None


class EmbedOptions(EmbedTokensOptions, total=False):
    """Options of ``encode`` in sentence-transformers."""

    normalize: bool | None
    dimensions: int | None
    truncate_dim: int | None


class RerankOptions(TypedDict, total=False):
    max_length: int | None
    long_texts: Literal["error", "truncate"] | None
    batch_size: int | None


class ClassifyOptions(RerankOptions, total=False):
    """Options of transformers' pipelines."""

    truncation: Literal["longest_first", "only_first", "only_second"] | None
    function_to_apply: Literal["none", "sigmoid", "softmax"] | None


class TagOptions(RerankOptions, total=False):
    aggregation: Literal["none", "simple", "first", "average", "max"] | None
    aggregation_strategy: Literal["none", "simple", "first", "average", "max"] | None
    ignore_labels: Sequence[str] | None
    stride: int | None


class ScoreOptions(TypedDict, total=False):
    source_lang: str | None
    src_lang: str | None
    target_lang: str | None
    tgt_lang: str | None
    batch_size: int | None


class AttentionOptions(TypedDict, total=False):
    kinds: str | Sequence[str] | None
    layers: int | Literal["all", "mean"] | None
    heads: int | Literal["all", "mean"] | None
    source_lang: str | None
    src_lang: str | None
    target_lang: str | None
    tgt_lang: str | None


class TranscribeOptions(TypedDict, total=False):
    """Options of openai-whisper, and of a call. None means the same as in openai-whisper.

    For a threshold: none. For ``beam_size``: greedy search. For ``best_of``: one sample.
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


class TranslateOptions(TypedDict, total=False):
    split: Literal["sentences", "lines", "never"] | None
    num_beams: int | None
    batch_size: int | None
    workers: int | None


class TextOptions(TranslateOptions, total=False):
    html: bool
    alternatives: int


class FormatOptions(TypedDict, total=False):
    format: str | None
    entries: Literal["untranslated", "fuzzy", "all"] | None
    mark_fuzzy: bool
    xliff_state: str | None
    line_width: int | None
    max_lines: int | None
    join_gap: float | None


class FileOptions(TranslateOptions, FormatOptions, total=False):
    pass


class DocumentOptions(FormatOptions, total=False):
    target_language: str | None


class TranscriptLineOptions(TypedDict, total=False):
    """Options of openai-whisper for subtitles."""

    max_line_width: int | None
    max_line_count: int | None
    max_words_per_line: int | None
    highlight_words: bool


GENERATE = frozenset([*_encdec.generate_option_names(), "drafts"])
EMBED = frozenset(EmbedOptions.__annotations__)
EMBED_TOKENS = frozenset(EmbedTokensOptions.__annotations__)
RERANK = frozenset(RerankOptions.__annotations__)
CLASSIFY = frozenset(ClassifyOptions.__annotations__)
TAG = frozenset(TagOptions.__annotations__)
SCORE = frozenset(ScoreOptions.__annotations__)
ATTENTION = frozenset(AttentionOptions.__annotations__)
TRANSCRIBE = frozenset([*_encdec.transcribe_option_names(), "drafts"])
LIVE = frozenset(_encdec.live_option_names())
ALIGN = frozenset(AlignOptions.__annotations__)
TEXTS = frozenset(TextOptions.__annotations__)
FILES = frozenset(FileOptions.__annotations__)
DOCUMENT = frozenset(DocumentOptions.__annotations__)
LINES = frozenset(TranscriptLineOptions.__annotations__)


#: Options of CTranslate2, faster-whisper, transformers and sentence-transformers, and our names for them.
_OUR_NAMES = {
    "beam_size": "num_beams",
    "compute_type": "precision",
    "cpu_threads": "threads",
    "dtype": "precision",
    "inter_threads": "workers",
    "intra_threads": "threads",
    "max_batch_size": "batch_size",
    "max_decoding_length": "max_new_tokens",
    "max_input_length": "max_source_tokens",
    "min_decoding_length": "min_new_tokens",
    "normalize_embeddings": "normalize",
    "num_beams": "beam_size",
    "num_hypotheses": "num_return_sequences",
    "num_workers": "workers",
    "output_attentions": "attention",
    "return_attention": "attention",
    "torch_dtype": "precision",
    "vad_filter": "vad_model",
}
#: Advice for options of other engines that no single option of ours replaces.
_ADVICE = {
    "device": "encdec runs on CPUs only",
    "output_scores": "generate() always gives scores",
    "return_scores": "generate() always gives scores",
    "sampling_temperature": "did you mean 'temperature' with do_sample=True?",
    "sampling_topk": "did you mean 'top_k' with do_sample=True?",
    "sampling_topp": "did you mean 'top_p' with do_sample=True?",
    "target_prefix": "did you mean 'prefix', or 'target_lang' for a token of a language?",
}


def built_with_translation(name: str) -> Any:
    """Returns a class of the extension. Raises ImportError if it was built without ENCDEC_TRANSLATION."""
    if not hasattr(_encdec, name):
        raise ImportError("encdec was built with ENCDEC_TRANSLATION=OFF, expected ON for translators and documents")
    return getattr(_encdec, name)


def check_names(function: str, options: Mapping[str, Any], known: frozenset[str]) -> None:
    """Raises TypeError for an unknown name. Its advice is our name for another engine's option, or the nearest name."""
    for name, value in options.items():
        if name not in known:
            hint = _hint(name, value, known)
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint and ', ' + hint}")


def _hint(name: str, value: Any, known: frozenset[str]) -> str:
    if name in _ADVICE:
        return _ADVICE[name]
    ours = _OUR_NAMES.get(name)
    if ours == "precision" and ours in known:
        word = str(value).removeprefix("torch.").split("_")[0]  # "int8_float32"
        return f"did you mean precision={word!r}?" if word in get_args(Precision) else "did you mean 'precision'?"
    if ours not in known:
        ours = next(iter(difflib.get_close_matches(name, known, 1, 0.5)), None)
    return f"did you mean {ours!r}?" if ours else ""


def parse_numbers(name: str, text: str, kind: Callable[[str], float]) -> list[float]:
    """Returns the numbers in a text such as "1,2,3", which openai-whisper accepts too."""
    try:
        return [kind(each) for each in text.split(",") if each.strip()]
    except ValueError:
        raise ConfigError(f"{name} is {text!r}, expected numbers separated by commas") from None
