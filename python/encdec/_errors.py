"""What the engine refuses or fails at: one line each, saying where, what was found and what was expected."""

from __future__ import annotations


class Error(RuntimeError):
    """Base of everything that the engine raises."""


class FileError(Error, OSError):
    """A file or folder cannot be read or written, or is not what its format promises."""


class ConfigError(Error, ValueError):
    """config.json, generation_config.json or options that contradict themselves or are out of range."""


class UnsupportedModelError(ConfigError):
    """A checkpoint of a kind that this version does not run."""


class InputError(Error, ValueError):
    """Data that the model cannot take, such as a token id outside the vocabulary."""


class ShapeError(Error, ValueError):
    """Tensors whose sizes do not fit together."""


class WeightError(Error):
    """A checkpoint's tensor is missing, or has another shape or type than its configuration says."""


class TokenizerError(Error):
    """A tokenizer's files, or text that it cannot take."""


class BackendError(Error):
    """The compute library underneath refused or failed."""


class ResourceError(Error):
    """The system has no more of what is needed: threads."""


for _class in list(globals().values()):
    if isinstance(_class, type):
        _class.__module__ = "encdec"  # where users find them
