"""Names and types of options for type checkers, and hints for unknown names."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

from . import _encdec

if TYPE_CHECKING:
    from typing import SupportsIndex

    Ids = Sequence[SupportsIndex]


Precision = Literal["float32", "bfloat16", "int8", "int4", "auto"]
Backend = Literal["auto", "onednn", "encdec"]


class GenerateOptions(TypedDict, total=False):
    """Options of Hugging Face's GenerationConfig and of a call. None means the checkpoint's value."""

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


GENERATE = frozenset([*_encdec.generate_option_names(), "drafts"])
SCORE = frozenset(ScoreOptions.__annotations__)
ATTENTION = frozenset(AttentionOptions.__annotations__)


#: Options of CTranslate2, faster-whisper, transformers and sentence-transformers, with our names.
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
#: Hints for options of other engines that have no single counterpart here.
_ADVICE = {
    "device": "encdec runs on CPUs only",
    "output_scores": "generate() always gives scores",
    "return_scores": "generate() always gives scores",
    "sampling_temperature": "did you mean 'temperature' with do_sample=True?",
    "sampling_topk": "did you mean 'top_k' with do_sample=True?",
    "sampling_topp": "did you mean 'top_p' with do_sample=True?",
    "target_prefix": "did you mean 'prefix', or 'target_lang' for a token of a language?",
}


def check_names(function: str, options: Mapping[str, Any], known: frozenset[str]) -> None:
    """Raises TypeError for an unknown name, with a hint: our name for another engine's option, or the nearest name."""
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
