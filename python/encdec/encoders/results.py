"""Results: plain values that can be compared, printed and pickled."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Classification:
    """The labels of a text with their scores, the best first."""

    labels: list[str]
    scores: list[float]

    @property
    def label(self) -> str:
        """The best label."""
        return self.labels[0]

    @property
    def score(self) -> float:
        """The score of the best label."""
        return self.scores[0]


@dataclass(frozen=True)
class SparseVector:
    """The sparse vector of a text: weights of vocabulary tokens."""

    #: The tokens, in ascending order.
    token_ids: list[int]
    #: The weight of each token.
    values: list[float]


@dataclass(frozen=True)
class Entity:
    """A part of a text with its label."""

    #: ``"B-PER"``, or ``"PER"`` if aggregated.
    label: str
    score: float
    #: The token as the vocabulary spells it, or the entity's text if aggregated.
    word: str
    #: The entity is ``text[start:end]``.
    start: int
    end: int
    #: The same positions in bytes of UTF-8.
    start_byte: int
    end_byte: int
    #: The index of the token in the text; 0 if aggregated.
    token: int = 0


@dataclass(frozen=True)
class Ranking:
    """A document and its relevance to the query."""

    #: The document's index in the list given to ``rerank``.
    index: int
    score: float
    document: str
