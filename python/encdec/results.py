"""Results of generating, scoring and forward passes: plain values that can be compared, printed and pickled."""

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
    """A generated text with its scores."""

    #: The text; empty if the checkpoint has no tokenizer.
    text: str
    #: The generated token ids, with the end token if there is one, but without the decoder start token.
    token_ids: list[int]
    #: With beams, transformers' ``sequences_scores``; else the sum of the tokens' log-probabilities.
    score: float
    #: ``"stop"`` if the model ended the text, ``"length"`` at the maximum number of tokens.
    finish_reason: FinishReason
    #: The model's log-probability of each token, before penalties and other logits processors.
    token_scores: list[float]
    #: For each token, pairs of id and log-probability, best first; empty without ``top_log_probs=``.
    top_log_probs: list[list[tuple[int, float]]] = field(default_factory=list, repr=False)
    #: The attention; None without ``attention=``.
    attention: Attention | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class GenerateResult:
    """The result for one source."""

    #: The hypotheses, best first. An empty source has one empty hypothesis.
    hypotheses: list[Hypothesis]
    #: The number of tokens of the source, including special tokens.
    source_tokens: int
    #: True if the source was truncated; see ``long_sources=``.
    source_truncated: bool

    @property
    def text(self) -> str:
        """The text of the best hypothesis."""
        return self.hypotheses[0].text


@dataclass(frozen=True)
class ScoreResult:
    """The log-probability of a target."""

    #: The sum of ``token_scores``.
    score: float
    #: The log-probability of each token of the target, including the end token.
    token_scores: list[float]


@dataclass(frozen=True, eq=False)
class ForwardResult:
    """The result of a forward pass. Rows shorter than the longest are padded with zeros."""

    #: Logits [B, T, V]; None for an encoder-only model.
    logits: FloatArray | None
    #: Encoder output [B, S, D]; None for a decoder-only model.
    encoder_last_hidden_state: FloatArray | None

    def __repr__(self) -> str:
        return f"ForwardResult({describe_arrays(vars(self))})"


def make_result(fields: dict[str, Any], tokenizer: Tokenizer | None) -> GenerateResult:
    """Returns a result for the fields that the extension returned."""

    def hypothesis(part: dict[str, Any]) -> Hypothesis:
        return Hypothesis(**{**part, "attention": part["attention"] and Attention.of(part["attention"], tokenizer)})

    return GenerateResult(**{**fields, "hypotheses": [hypothesis(each) for each in fields["hypotheses"]]})
