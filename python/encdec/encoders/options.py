"""The names and types of options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict


class EmbedTokensOptions(TypedDict, total=False):
    prompt: str | None
    prompt_name: str | None
    long_texts: Literal["error", "truncate"] | None
    batch_size: int | None


class EmbedOptions(EmbedTokensOptions, total=False):
    """Options as in sentence-transformers' ``encode``."""

    normalize: bool | None
    dimensions: int | None
    truncate_dim: int | None


class RerankOptions(TypedDict, total=False):
    max_length: int | None
    long_texts: Literal["error", "truncate"] | None
    batch_size: int | None


class ClassifyOptions(RerankOptions, total=False):
    """Options as in transformers' pipelines."""

    truncation: Literal["longest_first", "only_first", "only_second"] | None
    function_to_apply: Literal["none", "sigmoid", "softmax"] | None


class TagOptions(RerankOptions, total=False):
    aggregation: Literal["none", "simple", "first", "average", "max"] | None
    aggregation_strategy: Literal["none", "simple", "first", "average", "max"] | None
    ignore_labels: Sequence[str] | None
    stride: int | None


EMBED = frozenset(EmbedOptions.__annotations__)
EMBED_TOKENS = frozenset(EmbedTokensOptions.__annotations__)
RERANK = frozenset(RerankOptions.__annotations__)
CLASSIFY = frozenset(ClassifyOptions.__annotations__)
TAG = frozenset(TagOptions.__annotations__)
