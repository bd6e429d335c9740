"""Texts and files to translations."""

from . import documents
from .translator import Term, TranslatedFile, TranslatedSegment, Translation, Translator

__all__ = ["Translator", "Translation", "TranslatedFile", "TranslatedSegment", "Term", "documents"]
