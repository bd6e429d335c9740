"""The engine's exceptions. A message is one line: the place, what was found, and what was expected."""

from __future__ import annotations


class Error(RuntimeError):
    """Base class of the engine's exceptions."""


class FileError(Error, OSError):
    """A file or folder cannot be read or written, or its content is invalid."""


class ConfigError(Error, ValueError):
    """A value in config.json, generation_config.json or the options is out of range or contradicts another value."""


class UnsupportedModelError(ConfigError):
    """This version does not support this kind of checkpoint."""


class InputError(Error, ValueError):
    """The model does not accept an input, for example a token id outside the vocabulary."""


class ShapeError(Error, ValueError):
    """The sizes of tensors do not match."""


class WeightError(Error):
    """A tensor is missing from the checkpoint, or its shape or type contradicts the configuration."""


class TokenizerError(Error):
    """Tokenizer files are missing or invalid, or a text is not valid Unicode."""


class BackendError(Error):
    """The compute library (oneDNN) reported an error."""


class ResourceError(Error):
    """The operating system has run out of a resource, such as threads or open files."""


for _class in list(globals().values()):
    if isinstance(_class, type):
        _class.__module__ = "encdec"  # where users find them
