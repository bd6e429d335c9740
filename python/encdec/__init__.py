"""Transformer inference on CPUs. Load a checkpoint folder; get text, vectors, scores or transcripts.

>>> import encdec
>>> model = encdec.Model(path)
>>> model.translate("serendipity")
'S EH2 R AH0 N D IH1 P IH0 T IY0'
"""

from . import _errors, documents
from ._encdec import __version__
from ._errors import (
    BackendError,
    ConfigError,
    Error,
    FileError,
    InputError,
    ResourceError,
    ShapeError,
    TokenizerError,
    UnsupportedModelError,
    WeightError,
)
from ._registry import build_info
from .attention import Attention
from .live import LiveEvent, LiveSession
from .model import Model, open_model
from .pipelines import Pipeline, pipeline
from .results import (
    Classification,
    Entity,
    ForwardResult,
    GenerateResult,
    Hypothesis,
    Ranking,
    ScoreResult,
    SparseVector,
)
from .tokenizer import Tokenizer
from .transcript import AlignedLine, Alignment, Transcript, TranscriptSegment, TranscriptWord, UnalignedWord
from .translator import Term, TranslatedFile, TranslatedSegment, Translation, Translator

__all__ = [  # in the order of the reference
    "Model",
    "open_model",
    "pipeline",
    "Pipeline",
    "Tokenizer",
    "GenerateResult",
    "Hypothesis",
    "ScoreResult",
    "ForwardResult",
    "Attention",
    "SparseVector",
    "Classification",
    "Ranking",
    "Entity",
    "Transcript",
    "TranscriptSegment",
    "TranscriptWord",
    "Alignment",
    "AlignedLine",
    "UnalignedWord",
    "LiveSession",
    "LiveEvent",
    "Translator",
    "Translation",
    "TranslatedFile",
    "TranslatedSegment",
    "Term",
    "documents",
    "build_info",
    "__version__",
    "Error",
    "FileError",
    "ConfigError",
    "UnsupportedModelError",
    "InputError",
    "ShapeError",
    "WeightError",
    "TokenizerError",
    "BackendError",
    "ResourceError",
]
