"""Transformer inference on CPUs. Load a checkpoint folder; get text, vectors, scores or transcripts.

>>> import encdec
>>> model = encdec.Model(path)
>>> model.translate("serendipity")
'S EH2 R AH0 N D IH1 P IH0 T IY0'
"""

import sys
from typing import TYPE_CHECKING

from . import _errors, _slices
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
from .results import ForwardResult, GenerateResult, Hypothesis, ScoreResult
from .tokenizer import Tokenizer

if TYPE_CHECKING:
    from .encoders import *
    from .speech import *
    from .translation import *

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
for _slice in _slices.SLICES:
    for _name in _slice.__all__:
        __all__.insert(__all__.index("build_info"), _name)
        globals()[_name] = _found = getattr(_slice, _name)
        # As in earlier versions, names are also in encdec.MODULE: users import encdec.documents, pickles the rest.
        _module = getattr(_found, "__module__", _found.__name__)
        _last = _module.rpartition(".")[2]
        _place = globals().setdefault(_last, sys.modules[_module])
        sys.modules.setdefault(f"{__name__}.{_last}", _place)
        if _place is not _found:
            setattr(_place, _name, _found)
