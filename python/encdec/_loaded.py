"""The part of Model that loads and pickles a checkpoint."""

from __future__ import annotations

import os
from typing import Any, ClassVar, NoReturn

from . import _encdec, _inputs, _options, _registry


class Loaded:
    """The part of Model that loads and pickles a checkpoint. For the arguments see Model."""

    DEFAULTS: ClassVar[dict[str, Any]] = {
        "precision": "float32", "threads": None, "workers": 1, "weights_cache": None, "lazy": False
    }  # fmt: skip

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        precision: _options.Precision = "float32",
        threads: int | None = None,
        workers: int = 1,
        weights_cache: str | os.PathLike[str] | None = None,
        lazy: bool = False,
        **unknown: NoReturn,
    ) -> None:
        _options.check_names("Model", unknown, frozenset(self.DEFAULTS))
        self._path = os.path.abspath(_inputs.as_path(path))
        if isinstance(workers, bool) or not hasattr(workers, "__index__"):
            raise TypeError(f"workers is {workers!r}, expected an integer")
        if not 1 <= workers <= 1024:
            raise ValueError(f"workers is {workers}, expected 1 to 1024")
        cache = None if weights_cache is None else os.path.abspath(_inputs.as_path(weights_cache))
        self._settings: dict[str, Any] = dict(
            precision=precision, threads=threads, workers=workers, weights_cache=cache, lazy=lazy
        )
        self._speech_here: _encdec.SpeechModel | None = None
        self._core_here: _encdec.Model | None = None if lazy else self._load()
        self._tokenizer_here: _encdec.Tokenizer | None = None
        self._content_here: str | None = None

    @property
    def _core(self) -> _encdec.Model:
        if self._core_here is None:
            with _registry.lock():
                if self._core_here is None:
                    self._core_here = self._load()
        return self._core_here

    def _load(self) -> _encdec.Model:
        options = {name: self._settings[name] for name in ("precision", "threads", "weights_cache")}
        if options["weights_cache"] is None:
            options["weights_cache"] = os.environ.get("ENCDEC_WEIGHTS_CACHE")
        if options["threads"] is None and self._settings["workers"] > 1:
            options["threads"] = max(1, _encdec.default_threads() // self._settings["workers"])
        core = _encdec.Model.load(os.fsencode(self._path), options)
        if core.reads_sound:
            self._speech_here = _encdec.SpeechModel(core)
        return core

    @property
    def _speech(self) -> _encdec.SpeechModel:
        core = self._core
        return self._speech_here or _encdec.SpeechModel(core)

    @property
    def _tokenizer(self) -> _encdec.Tokenizer | None:
        if self._tokenizer_here is None and self._core.has_tokenizer:
            self._tokenizer_here = _encdec.Tokenizer(self._core)
        return self._tokenizer_here

    @property
    def path(self) -> str:
        """The checkpoint folder."""
        return self._path

    def _content(self) -> str:
        if self._content_here is None:
            self._content_here = self._core.content()
        return self._content_here

    def __reduce__(self) -> tuple[Any, ...]:
        content = None if self._core_here is None else self._content()
        options = {name: value for name, value in self._changed().items() if name != "weights_cache"}
        return _registry.restore, (self._path, options, content)

    def _changed(self) -> dict[str, Any]:
        return {name: value for name, value in self._settings.items() if value != self.DEFAULTS[name]}

    def __copy__(self) -> Loaded:
        return self

    def __deepcopy__(self, memo: Any) -> Loaded:
        return self

    def __repr__(self) -> str:
        options = (f", {name}={value!r}" for name, value in self._changed().items())
        return f"encdec.Model({self._path!r}{''.join(options)})"
