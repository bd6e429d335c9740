"""Translation of texts and files."""

from . import documents
from .translator import Term, TranslatedFile, TranslatedSegment, Translation, Translator

__all__ = ["Translator", "Translation", "TranslatedFile", "TranslatedSegment", "Term", "documents"]
