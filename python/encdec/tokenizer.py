"""The class Tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, SupportsIndex

from . import _encdec

if TYPE_CHECKING:
    from ._inputs import IntArray

Side = Literal["source", "target"]


class Tokenizer:
    """A checkpoint's tokenizer. The source side and the target side may have different vocabularies.

    >>> tokenizer = model.tokenizer
    >>> tokenizer.decode(tokenizer.encode_target("HH AH0 L OW1"))
    'HH AH0 L OW1'
    """

    def __init__(self, core: _encdec.Tokenizer) -> None:
        self._core = core

    def encode(self, text: str, *, source_lang: str = "", target_lang: str = "", max_length: int = 0) -> list[int]:
        """Returns the token ids of a source with special tokens: at most ``max_length`` of them unless that is 0.

        Raises TokenizerError for text that is not valid Unicode, and InputError for an unknown language.
        """
        return self._core.encode(text, source_lang, target_lang, max_length, False)

    def encode_target(
        self, text: str, *, source_lang: str = "", target_lang: str = "", max_length: int = 0
    ) -> list[int]:
        """Returns the token ids of a target with special tokens."""
        return self._core.encode(text, source_lang, target_lang, max_length, True)

    def decode(self, ids: Sequence[SupportsIndex] | IntArray) -> str:
        """Returns the text of generated ids, without special tokens. Raises InputError for an unknown id."""
        return self._core.decode(ids)

    def piece(self, id: SupportsIndex, side: Side = "target") -> str:
        """Returns the vocabulary entry of an id. Raises InputError for an unknown id."""
        return self._core.piece(id, _is_target(side))

    def pieces(self, ids: Sequence[SupportsIndex], side: Side = "target") -> list[str]:
        """Returns the vocabulary entries of several ids."""
        return [self.piece(each, side) for each in ids]

    def token_id(self, token: str) -> int | None:
        """Returns the id of an entry in the target side's vocabulary; None if it is not there."""
        return self._core.token_id(token)

    def language_token(self, language: str) -> int | None:
        """Returns the id of a language's token; None if the language is unknown."""
        return self._core.language_token(language)

    def vocabulary_size(self, side: Side = "target") -> int:
        """Returns the number of ids, which begin at 0."""
        return self._core.vocabulary_size(_is_target(side))

    @property
    def languages(self) -> list[str]:
        """The languages with a token, in the order of their ids; empty if there are no language tokens."""
        return self._core.languages

    @property
    def kind(self) -> str:
        """A description of the tokenizer, for example "byte-level BPE"."""
        return self._core.kind

    def __repr__(self) -> str:
        return f"<encdec.Tokenizer: {self.kind}, {self.vocabulary_size()} tokens>"


def _is_target(side: str) -> bool:
    if side not in ("source", "target"):
        raise ValueError(f"side is {side!r}, expected 'source' or 'target'")
    return side == "target"
