"""What generating and scoring give: plain values, which compare, print and pickle as such."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from .attention import Attention, describe_arrays

if TYPE_CHECKING:
    import numpy
    import numpy.typing

    from ._encdec import Tokenizer

    FloatArray = numpy.typing.NDArray[numpy.float32]

FinishReason = Literal["stop", "length"]


@dataclass(frozen=True)
class Hypothesis:
    """One of the things that the model would say, and how likely it finds it."""

    #: Empty where the checkpoint has no tokenizer.
    text: str
    #: Without the decoder start token; the end token is kept where it was generated.
    token_ids: list[int]
    #: Beams: transformers' ``sequences_scores``; else the sum of the tokens' log-probabilities.
    score: float
    #: ``"stop"`` where the model ended it, ``"length"`` where it has as many tokens as it may have.
    finish_reason: FinishReason
    #: By token: the model's log-probability, before any rule.
    token_scores: list[float]
    #: By token: pairs of id and log-probability, best first, if ``top_log_probs=`` asks for them.
    top_log_probs: list[list[tuple[int, float]]] = field(default_factory=list, repr=False)
    #: If ``attention=`` asks for it.
    attention: Attention | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class GenerateResult:
    """What a call makes of one source."""

    #: Best first; one empty hypothesis for an empty source.
    hypotheses: list[Hypothesis]
    #: That were read, special ones included.
    source_tokens: int
    #: Whether its end was left out: see ``long_sources=``.
    source_truncated: bool

    @property
    def text(self) -> str:
        """The best hypothesis' text."""
        return self.hypotheses[0].text


@dataclass(frozen=True)
class ScoreResult:
    """How likely a target is."""

    #: The sum of ``token_scores``.
    score: float
    #: Each target token's log-probability, the end token's too.
    token_scores: list[float]


@dataclass(frozen=True, eq=False)
class ForwardResult:
    """What one pass gives. Rows shorter than the longest are padded with zeros."""

    #: [B, T, V]; None of an encoder-only model.
    logits: FloatArray | None
    #: [B, S, D]; None of a decoder-only model.
    encoder_last_hidden_state: FloatArray | None

    def __repr__(self) -> str:
        return f"ForwardResult({describe_arrays(vars(self))})"


def make_hypothesis(parts: tuple[Any, ...], tokenizer: Tokenizer | None) -> Hypothesis:
    attention = parts[6] and Attention.of(parts[6], tokenizer)
    text, token_ids, score, reason, token_scores, top_log_probs, _ = parts
    return Hypothesis(text, token_ids, score, reason, token_scores, top_log_probs, attention)


def make_result(parts: tuple[Any, ...], tokenizer: Tokenizer | None) -> GenerateResult:
    """From what the extension gives."""
    hypotheses, *rest = parts
    return GenerateResult([make_hypothesis(each, tokenizer) for each in hypotheses], *rest)
