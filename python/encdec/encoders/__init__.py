"""Embeddings, classification and ranking of texts."""

from .methods import Model as METHODS
from .results import Classification, Entity, Ranking, SparseVector

__all__ = ["SparseVector", "Classification", "Ranking", "Entity"]
