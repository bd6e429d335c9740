"""The part of the extension module that belongs to this slice; _engine.pyi has its types."""

from .. import _encdec

globals().update({name: value for name, value in vars(_encdec.speech).items() if not name.startswith("_")})
