"""Names of options: what type checkers see, and what a misspelled one is told."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from . import _encdec

if TYPE_CHECKING:
    from typing import SupportsIndex

    Ids = Sequence[SupportsIndex]


class GenerateOptions(TypedDict, total=False):
    """Hugging Face's GenerationConfig, and what a call adds to it. None stands for the checkpoint's own."""

    num_beams: int | None
    num_return_sequences: int | None
    max_length: int | None
    max_new_tokens: int | None
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
    source_lang: str | None
    src_lang: str | None
    target_lang: str | None
    tgt_lang: str | None
    max_source_tokens: int | None
    long_sources: Literal["error", "truncate"] | None
    top_log_probs: int | None
    attention: bool | Mapping[str, Any] | None
    batch_size: int | None
    workers: int | None


class EmbedOptions(TypedDict, total=False):
    """What sentence-transformers' ``encode`` knows."""

    normalize: bool | None
    dimensions: int | None
    prompt: str | None
    prompt_name: str | None
    long_texts: Literal["error", "truncate"] | None
    batch_size: int | None


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


GENERATE = frozenset(_encdec.generate_option_names())
EMBED = frozenset(EmbedOptions.__annotations__)
SCORE = frozenset(ScoreOptions.__annotations__)
ATTENTION = frozenset(AttentionOptions.__annotations__)


def check_names(function: str, options: Iterable[str], known: frozenset[str]) -> None:
    """Raises TypeError for a name that is not known, with the nearest that is."""
    for name in options:
        if name in known:
            continue
        near = difflib.get_close_matches(name, known, 1, 0.5)
        hint = f", did you mean {near[0]!r}?" if near else ""
        raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")
