"""A checkpoint's own tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, SupportsIndex

from . import _encdec

if TYPE_CHECKING:
    from ._inputs import IntArray

Side = Literal["source", "target"]


class Tokenizer:
    """Text to token ids and back. A checkpoint may have a vocabulary for each side.

    >>> tokenizer = model.tokenizer
    >>> tokenizer.decode(tokenizer.encode_target("HH AH0 L OW1"))
    'HH AH0 L OW1'
    """

    def __init__(self, core: _encdec.Tokenizer) -> None:
        self._core = core

    def encode(self, text: str, *, source_lang: str = "", target_lang: str = "", max_length: int = 0) -> list[int]:
        """The ids that the model reads for a source, special tokens included; at most ``max_length``, if not 0.

        Raises TokenizerError for text that is not Unicode, InputError for a language that is not known.
        """
        return self._core.encode(text, source_lang, target_lang, max_length, False)

    def encode_target(
        self, text: str, *, source_lang: str = "", target_lang: str = "", max_length: int = 0
    ) -> list[int]:
        """The ids that stand for a target, special tokens included."""
        return self._core.encode(text, source_lang, target_lang, max_length, True)

    def decode(self, ids: Sequence[SupportsIndex] | IntArray) -> str:
        """The text that generated ids stand for, without special tokens. Raises InputError for an unknown id."""
        return self._core.decode(ids)

    def piece(self, id: SupportsIndex, side: Side = "target") -> str:
        """What an id stands for, as the vocabulary spells it. Raises InputError for an unknown id."""
        return self._core.piece(id, _is_target(side))

    def pieces(self, ids: Sequence[SupportsIndex], side: Side = "target") -> list[str]:
        """The same for many."""
        return [self.piece(each, side) for each in ids]

    def token_id(self, token: str) -> int | None:
        """The id of a token of the target side, spelled as in the vocabulary; None if there is none."""
        return self._core.token_id(token)

    def language_token(self, language: str) -> int | None:
        """The id that stands for a language; None if the language is not known."""
        return self._core.language_token(language)

    def vocabulary_size(self, side: Side = "target") -> int:
        """Ids of a side: those are 0 to this number, exclusive."""
        return self._core.vocabulary_size(_is_target(side))

    @property
    def languages(self) -> list[str]:
        """That may be named, in the order of their ids; empty where the model does not know languages."""
        return self._core.languages

    @property
    def kind(self) -> str:
        """What it is, for people: "byte-level BPE"."""
        return self._core.kind

    def __repr__(self) -> str:
        return f"<encdec.Tokenizer: {self.kind}, {self.vocabulary_size()} tokens>"


def _is_target(side: str) -> bool:
    if side not in ("source", "target"):
        raise ValueError(f"side is {side!r}, expected 'source' or 'target'")
    return side == "target"
