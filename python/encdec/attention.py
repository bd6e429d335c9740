"""The class Attention: attention weights and pictures of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _encdec

if TYPE_CHECKING:
    import numpy
    import numpy.typing

    from ._encdec import Tokenizer

    FloatArray = numpy.typing.NDArray[numpy.float32]


@dataclass(frozen=True, eq=False)
class Attention:
    """Attention weights. Notebooks show an object of this class as a picture."""

    #: Weights by kind (``"encoder"``, ``"decoder"``, ``"cross"``): [layers, heads, queries, keys]. Rows sum to 1.
    maps: dict[str, FloatArray]
    #: The tokens that the encoder reads, as the vocabulary spells them; ids if there is no tokenizer.
    source: list[str]
    #: The tokens that the decoder produces: one for each row of the decoder's maps.
    target: list[str]
    #: The tokens that the decoder reads: one for each column of the map ``"decoder"``.
    decoder_input: list[str]
    source_ids: list[int]
    target_ids: list[int]

    @classmethod
    def of(cls, fields: dict[str, Any], tokenizer: Tokenizer | None) -> Attention:
        """Returns an object for the fields that the extension returned."""

        def pieces(ids: list[int], is_target: bool) -> list[str]:
            return [_piece(each, is_target, tokenizer) for each in ids]

        return cls(
            maps=fields["maps"],
            source=pieces(fields["source"], False),
            target=pieces(fields["target"], True),
            decoder_input=pieces(fields["decoder_input"], True),
            source_ids=fields["source"],
            target_ids=fields["target"],
        )

    def __repr__(self) -> str:
        return f"Attention({describe_arrays(self.maps)})"

    def picture(self, kind: str | None = None) -> tuple[list[str], list[str], FloatArray]:
        """Returns row names, column names and weights [rows, columns]: the mean of the last layer's heads.

        ``kind`` is by default the first of ``"cross"``, ``"decoder"`` and ``"encoder"`` that the model has.
        """
        kind = self._kind(kind)
        weights: FloatArray = self.maps[kind][-1].mean(axis=0)
        rows = self.source if kind == "encoder" else self._decoder_rows(weights.shape[0])
        columns = self.decoder_input if kind == "decoder" else self.source
        return rows, columns, weights

    def svg(self, kind: str | None = None) -> str:
        """Returns the picture as SVG: ``Path("map.svg").write_text(attention.svg(), "utf-8")``."""
        rows, columns, weights = self.picture(kind)
        return _encdec.draw_attention(self._kind(kind), rows, columns, weights)

    def plot(self, kind: str | None = None, axes: Any = None) -> Any:
        """Draws the picture with matplotlib, and returns its axes."""
        from matplotlib import pyplot  # type: ignore[import-not-found,unused-ignore]

        rows, columns, weights = self.picture(kind)
        if axes is None:
            axes = pyplot.subplots()[1]
        axes.imshow(weights, vmin=0, cmap="Blues")
        axes.set_xticks(range(len(columns)), columns, rotation=90)
        axes.set_yticks(range(len(rows)), rows)
        return axes

    def _kind(self, kind: str | None) -> str:
        if kind is None:
            kind = next(each for each in ("cross", "decoder", "encoder") if each in self.maps)
        if kind not in self.maps:
            raise ValueError(f"kind is {kind!r}, expected one of {', '.join(self.maps)}")
        return kind

    def _decoder_rows(self, count: int) -> list[str]:
        return (["?"] * count + self.target)[-count:] if count else []

    def _repr_html_(self) -> str:
        return self.svg()


def describe_arrays(arrays: Mapping[str, FloatArray | None]) -> str:
    """Returns names and shapes, for example "logits 1x2x72". Leaves out arrays that are None."""
    return ", ".join(f"{name} {'x'.join(map(str, each.shape))}" for name, each in arrays.items() if each is not None)


def _piece(token: int, is_target: bool, tokenizer: Tokenizer | None) -> str:
    if tokenizer is None:
        return str(token)
    try:
        return tokenizer.piece(token, is_target)
    except ValueError:  # a model may have more ids than the tokenizer has entries
        return str(token)
