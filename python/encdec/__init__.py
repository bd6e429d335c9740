"""Transformer inference on CPUs. Load a checkpoint folder; get text, vectors, scores or transcripts.

>>> import encdec
>>> model = encdec.Model(path)
>>> model.translate("serendipity")
'S EH2 R AH0 N D IH1 P IH0 T IY0'
"""

from . import _errors
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
from .transcript import Transcript, TranscriptSegment, TranscriptWord

__all__ = [
    "Attention",
    "BackendError",
    "Classification",
    "ConfigError",
    "Entity",
    "Error",
    "FileError",
    "ForwardResult",
    "GenerateResult",
    "Hypothesis",
    "InputError",
    "Model",
    "Pipeline",
    "Ranking",
    "ResourceError",
    "ScoreResult",
    "ShapeError",
    "SparseVector",
    "Tokenizer",
    "TokenizerError",
    "Transcript",
    "TranscriptSegment",
    "TranscriptWord",
    "UnsupportedModelError",
    "WeightError",
    "__version__",
    "build_info",
    "open_model",
    "pipeline",
]
