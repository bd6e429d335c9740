"""Texts to vectors, labels and ranks."""

from .methods import Model as METHODS
from .results import Classification, Entity, Ranking, SparseVector

__all__ = ["SparseVector", "Classification", "Ranking", "Entity"]
