"""The methods of class Model that every build has."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, overload

from . import _encdec, _inputs, _options, _registry, _requests
from ._errors import TokenizerError
from ._lifetime import close_at_exit
from .attention import Attention
from .results import ForwardResult, GenerateResult, ScoreResult, make_result
from .tokenizer import Tokenizer

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ._inputs import Source

OnError = Literal["raise", "null"]

_LOAD = ("precision", "draft_precision", "assistant_model", "backend", "threads", "weights_cache")  # for load()
_AHEAD = 256  # sources per worker that generate_iter reads ahead


class Model:
    """The base of ``encdec.Model``: generating, scoring, forward passes and attention. Slices add methods."""

    DEFAULTS: ClassVar[dict[str, Any]] = {
        "precision": "float32", "draft_precision": None, "assistant_model": None, "backend": None,
        "threads": None, "workers": 1, "weights_cache": None, "lazy": False
    }  # fmt: skip

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        precision: _options.Precision = "float32",
        draft_precision: Literal["bfloat16", "int8", "int4"] | None = None,
        assistant_model: str | os.PathLike[str] | None = None,
        backend: _options.Backend | None = None,
        threads: int | None = None,
        workers: int = 1,
        weights_cache: str | os.PathLike[str] | None = None,
        lazy: bool = False,
        **unknown: NoReturn,
    ) -> None:
        _options.check_names("Model", unknown, frozenset(self.DEFAULTS))
        self._path = _inputs.as_model(path)
        if isinstance(workers, bool) or not hasattr(workers, "__index__"):
            raise TypeError(f"workers is {workers!r}, expected an integer")
        if not 1 <= workers <= 1024:
            raise ValueError(f"workers is {workers}, expected 1 to 1024")
        cache = None if weights_cache is None else os.path.abspath(_inputs.as_path(weights_cache))
        assistant = None if assistant_model is None else _inputs.as_model(assistant_model)
        self._settings: dict[str, Any] = dict(
            precision=precision, draft_precision=draft_precision, assistant_model=assistant, backend=backend,
            threads=threads, workers=workers, weights_cache=cache, lazy=lazy,
        )  # fmt: skip
        self._core_here: _encdec.Model | None = None if lazy else self._load()
        self._tokenizer_here: _encdec.Tokenizer | None = None
        self._content_here: str | None = None
        self._queue_here: _encdec.RequestQueue | None = None

    @property
    def _core(self) -> _encdec.Model:
        if self._core_here is None:
            with _registry.lock():
                if self._core_here is None:
                    self._core_here = self._load()
        return self._core_here

    def _load(self) -> _encdec.Model:
        options = {name: self._settings[name] for name in _LOAD}
        if options["weights_cache"] is None:
            options["weights_cache"] = os.environ.get("ENCDEC_WEIGHTS_CACHE")
        if options["threads"] is None and self._settings["workers"] > 1:
            options["threads"] = max(1, _encdec.default_threads() // self._settings["workers"])
        core = _encdec.Model.load(os.fsencode(self._path), options)
        self._loaded(core)
        return core

    def _loaded(self, core: _encdec.Model) -> None:
        """Called after the checkpoint is loaded. An exception in it makes loading fail."""

    @property
    def _tokenizer(self) -> _encdec.Tokenizer | None:
        if self._tokenizer_here is None and self._core.has_tokenizer:
            self._tokenizer_here = _encdec.Tokenizer(self._core)
        return self._tokenizer_here

    @property
    def path(self) -> str:
        """The checkpoint folder, or OWNER/NAME."""
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

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __repr__(self) -> str:
        options = (f", {name}={value!r}" for name, value in self._changed().items())
        return f"encdec.Model({self._path!r}{''.join(options)})"

    @property
    def _queue(self) -> _encdec.RequestQueue:
        if self._queue_here is None:
            core = self._core
            with _registry.lock():
                if self._queue_here is None:
                    self._queue_here = _encdec.RequestQueue(core, self._settings["workers"])
                    close_at_exit(self._queue_here)
        return self._queue_here

    def _generate_options(self, function: str, options: Any) -> dict[str, Any]:
        _options.check_names(function, options, _options.GENERATE)
        if options.get("workers") is None:
            options["workers"] = self._settings["workers"]
        return options  # type: ignore[no-any-return]

    @overload
    def translate(  # type: ignore[overload-overlap]
        self, sources: Source, *, prefix: Source | None = None, **options: Unpack[_options.GenerateOptions]
    ) -> str: ...
    @overload
    def translate(
        self,
        sources: Iterable[Source],
        *,
        prefix: Source | Sequence[Source | None] | None = None,
        **options: Unpack[_options.GenerateOptions],
    ) -> list[str]: ...
    @overload
    def translate(
        self,
        sources: Iterable[Source | None],
        *,
        prefix: Source | Sequence[Source | None] | None = None,
        on_error: Literal["null"],
        **options: Unpack[_options.GenerateOptions],
    ) -> list[str | None]: ...
    def translate(self, sources: Any, *, prefix: Any = None, on_error: OnError = "raise", **options: Any) -> Any:
        """Returns the text that the model generates from a source, or a list of texts for a list of sources.

        A source is a text or a list of token ids. Token ids are used exactly as given. ``prefix`` is the text, or the
        token ids, with which the result begins. Options: see ``generate``.

        >>> model.translate(["attention", "world"], num_beams=4)
        ['AH0 T EH1 N SH AH0 N', 'W ER1 L D']
        """
        texts, single = self._generate("translate", sources, prefix, on_error, options)
        chosen = [each and each["hypotheses"][0]["text"] for each in texts]
        return chosen[0] if single else chosen

    @overload
    def generate(
        self,
        sources: Source | Iterable[Source],
        *,
        prefix: Source | Sequence[Source | None] | None = None,
        on_error: Literal["raise"] = "raise",
        **options: Unpack[_options.GenerateOptions],
    ) -> list[GenerateResult]: ...
    @overload
    def generate(
        self,
        sources: Source | Iterable[Source | None],
        *,
        prefix: Source | Sequence[Source | None] | None = None,
        on_error: Literal["null"],
        **options: Unpack[_options.GenerateOptions],
    ) -> list[GenerateResult | None]: ...
    def generate(self, sources: Any, *, prefix: Any = None, on_error: OnError = "raise", **options: Any) -> Any:
        """Returns a list with one result for each source, in order. For a decoder-only model a source is a prompt.

        Options have the names and meanings of Hugging Face's GenerationConfig. Defaults come from the checkpoint.
        Further options:

        - ``source_lang``, ``target_lang``: the languages, for a multilingual model.
        - ``max_source_tokens``: the maximum number of tokens of a source.
        - ``long_sources``: ``"error"`` or ``"truncate"`` for longer sources.
        - ``top_log_probs``: how many of the most probable tokens to return at each position.
        - ``attention``: True to return attention, or a dict with the options of ``attention()``.
        - ``drafts``: a draft of each result, such as the translation of an earlier version, or None (speculative
          decoding). Correct drafts make search without beams faster; results never change. Other sources of draft
          tokens: ``draft_source=True``, ``prompt_lookup_num_tokens``. ``num_assistant_tokens`` is the number of draft
          tokens per step.
        - ``batch_size``, ``workers``: results do not depend on these.
        - ``on_error="null"``: return None for a source that the model does not accept.

        Raises TypeError for an unknown option, ConfigError for an option that is out of range or not supported by this
        model, and InputError or TokenizerError for a source that the model does not accept.

        >>> result = model.generate("cat", num_beams=2, num_return_sequences=2)[0]
        >>> [hypothesis.text for hypothesis in result.hypotheses]
        ['K AE1 T', 'K AE1 T AH0 K']
        >>> result.hypotheses[0].finish_reason
        'stop'
        """
        results, _ = self._generate("generate", sources, prefix, on_error, options)
        return [each and make_result(each, self._tokenizer) for each in results]

    def _generate(self, function: str, sources: Any, prefix: Any, on_error: str, options: Any) -> tuple[list[Any], bool]:
        options = self._generate_options(function, options)
        null = _inputs.is_null(on_error)
        inputs, single = _inputs.as_list(sources, "sources")
        known = _inputs.known_targets(prefix, options.pop("drafts", None), len(inputs), single)
        return self._core.generate(inputs, known, options, null), single

    @overload
    def generate_iter(
        self, sources: Iterable[Source], **options: Unpack[_options.GenerateOptions]
    ) -> Iterator[GenerateResult]: ...
    @overload
    def generate_iter(
        self,
        sources: Iterable[Source | None],
        *,
        on_error: Literal["null"],
        **options: Unpack[_options.GenerateOptions],
    ) -> Iterator[GenerateResult | None]: ...
    def generate_iter(self, sources: Any, *, on_error: OnError = "raise", **options: Any) -> Iterator[Any]:
        """Yields the results of ``generate`` for any iterable of sources, in order.

        The iterable may be endless: memory does not grow. For each worker, 256 sources are read ahead or, if
        ``batch_size`` is given, four batches. Closing the iterator stops the work.

        >>> lines = (word for word in ["one", "two"])
        >>> [result.text for result in model.generate_iter(lines)]
        ['W AH1 N', 'T UW1']
        """
        options = self._generate_options("generate_iter", options)
        if _inputs.is_single(sources) or not isinstance(sources, Iterable):
            raise TypeError(f"sources: {type(sources).__name__}, expected an iterable of sources")
        return self._iterate(_inputs.plain(sources), _inputs.is_null(on_error), options)

    def _iterate(self, sources: Iterable[Any], null: bool, options: Any) -> Iterator[GenerateResult | None]:
        inbox = _encdec.Inbox()
        queue = _encdec.SourceQueue(self._core, inbox, options)
        ahead = (4 * options["batch_size"] if options.get("batch_size") else _AHEAD) * options["workers"]
        tokenizer = self._tokenizer
        for each in _requests.in_order(queue, inbox, sources, null, max(1, ahead)):
            yield each and make_result(each, tokenizer)

    def stream(
        self, source: Source, *, prefix: Source | None = None, **options: Unpack[_options.GenerateOptions]
    ) -> Generator[str, None, None]:
        """Yields the text of a source's result in parts, each as soon as it is final.

        With beams, text is final once all beams share it. Closing the iterator stops the work. Python also closes the
        iterator when its last reference is gone.

        >>> "".join(model.stream("serendipity")) == model.translate("serendipity")
        True
        """
        submit, tokenizer = self._stream("stream", source, prefix, options)
        return _requests.pieces_here(submit, tokenizer)

    def astream(
        self, source: Source, *, prefix: Source | None = None, **options: Unpack[_options.GenerateOptions]
    ) -> AsyncGenerator[str, None]:
        """Like ``stream``, for ``async for``. Shares batches with other awaited requests.

        >>> import asyncio
        >>> async def spell(): return [piece async for piece in model.astream("cat")]
        >>> "".join(asyncio.run(spell()))
        'K AE1 T'
        """
        submit, tokenizer = self._stream("astream", source, prefix, options)
        return _requests.pieces(submit, tokenizer)

    @overload
    async def agenerate(
        self,
        sources: Source | Iterable[Source],
        *,
        prefix: Source | Sequence[Source | None] | None = None,
        on_error: Literal["raise"] = "raise",
        **options: Unpack[_options.GenerateOptions],
    ) -> list[GenerateResult]: ...
    @overload
    async def agenerate(
        self,
        sources: Source | Iterable[Source | None],
        *,
        prefix: Source | Sequence[Source | None] | None = None,
        on_error: Literal["null"],
        **options: Unpack[_options.GenerateOptions],
    ) -> list[GenerateResult | None]: ...
    async def agenerate(self, sources: Any, *, prefix: Any = None, on_error: str = "raise", **options: Any) -> Any:
        """Like ``generate``, but awaited. Requests of many tasks, with any options, share batches.

        Cancelling the task cancels its sources.

        >>> import asyncio
        >>> async def both(): return await asyncio.gather(model.agenerate("cat"), model.agenerate(["dog"]))
        >>> [results[0].text for results in asyncio.run(both())]
        ['K AE1 T', 'D AO1 G']
        """
        _options.check_names("agenerate", options, _options.GENERATE)
        null = _inputs.is_null(on_error)
        inputs, single = _inputs.as_list(sources, "sources")
        known = _inputs.known_targets(prefix, options.pop("drafts", None), len(inputs), single)
        submit = self._submit(inputs, known, options, null=null)
        results = await _requests.gather(submit, len(inputs), null)
        return [each and make_result(each, self._tokenizer) for each in results]

    def _stream(
        self, function: str, source: Any, prefix: Any, options: Any
    ) -> tuple[_requests.Submit, _encdec.Tokenizer]:
        _options.check_names(function, options, _options.GENERATE)
        _inputs.check_single(source)
        if self._tokenizer is None:
            raise TokenizerError(f"{self._path}: no tokenizer files, expected some for streaming")
        options = {**options, "num_return_sequences": options.get("num_return_sequences") or 1}
        known = _inputs.known_targets(prefix, options.pop("drafts", None), 1, single=True)
        return self._submit([source], known, options, with_tokens=True), self._tokenizer

    def _submit(
        self,
        inputs: list[Any],
        known: list[Any] | None,
        options: Any,
        *,
        with_tokens: bool = False,
        null: bool = False,
    ) -> _requests.Submit:
        queue = self._queue

        def submit(inbox: _encdec.Inbox, number: int, indices: list[int]) -> _encdec.Request:
            chosen = None if known is None else [known[each] for each in indices]
            return queue.submit(inbox, number, [inputs[each] for each in indices], chosen, options, with_tokens, null)

        return submit

    @overload
    def score(  # type: ignore[overload-overlap]
        self, sources: Source, targets: Source, **options: Unpack[_options.ScoreOptions]
    ) -> ScoreResult: ...
    @overload
    def score(
        self, sources: Iterable[Source], targets: Iterable[Source], **options: Unpack[_options.ScoreOptions]
    ) -> list[ScoreResult]: ...
    def score(self, sources: Any, targets: Any, **options: Any) -> Any:
        """Returns the log-probability of each target given its source (teacher forcing).

        Raises InputError if the numbers of sources and targets differ.

        >>> good, bad = model.score(["cat", "cat"], ["K AE1 T", "D AO1 G"])
        >>> good.score > bad.score
        True
        """
        _options.check_names("score", options, _options.SCORE)
        source_list, single = _inputs.as_list(sources, "sources")
        target_list, single_target = _inputs.as_list(targets, "targets")
        if single != single_target:
            raise TypeError("sources and targets: expected one of each, or a list of each")
        results = [ScoreResult(**each) for each in self._core.score(source_list, target_list, options)]
        return results[0] if single else results

    def forward(self, sources: Any = None, targets: Any = None) -> ForwardResult:
        """Runs the model once on rows of token ids. Returns float32 logits [B, T, V] and encoder outputs [B, S, D].

        Needs numpy. Each target begins with the decoder start token. An encoder-only model takes no targets, and a
        decoder-only model takes no sources. Raises InputError if the numbers of sources and targets differ, if a row
        is empty or too long, or for an unknown id.

        >>> model.forward([[5, 6, 0]], [[67, 3]]).logits.shape == (1, 2, model.config["decoder"]["vocabulary"])
        True
        """
        rows = [[] if each is None else _inputs.as_list(each, what)[0] for each, what in
                ((sources, "sources"), (targets, "targets"))]  # fmt: skip
        return ForwardResult(**self._core.forward(*rows))

    def attention(
        self, source: Source, target: Source | None = None, **options: Unpack[_options.AttentionOptions]
    ) -> Attention:
        """Returns the attention weights for a source and a target. Without a target, the model generates one.

        Needs numpy. ``kinds`` is a list of ``"encoder"``, ``"decoder"`` and ``"cross"``. ``layers`` and ``heads`` are a
        number, ``"mean"`` or ``"all"``.

        >>> model.attention("cat").target
        ['▁K', '▁AE1', '▁T', '</s>']
        """
        _options.check_names("attention", options, _options.ATTENTION)
        _inputs.check_single(source)
        if target is None and self._core.config["decoder"] is not None:
            asked: dict[str, Any] = dict(options)
            choice: dict[str, Any] = {each: asked.pop(each) for each in ("kinds", "layers", "heads") if each in asked}
            result: GenerateResult = self.generate([source], attention=choice or True, num_return_sequences=1, **asked)[0]
            if (found := result.hypotheses[0].attention) is not None:
                return found
            target = "" if isinstance(source, str) else []
        return Attention.of(self._core.attention(source, target, options), self._tokenizer)

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The tokenizer; None if the folder has none."""
        return Tokenizer(self._tokenizer) if self._tokenizer is not None else None

    @property
    def config(self) -> dict[str, Any]:
        """The sizes: ``model_dim``, and layers, heads, hidden_dim and vocabulary of ``encoder`` and ``decoder``."""
        return self._core.config

    @property
    def generation_config(self) -> dict[str, Any]:
        """The checkpoint's generation options, by transformers' names."""
        return self._core.generation_config

    @property
    def precision(self) -> str:
        """The precision of matrix products; the chosen one for ``"auto"``."""
        return self._core.precision

    @property
    def backend(self) -> str:
        """The kernels of matrix products in the model's precision: ``"encdec (panels)"``."""
        return self._core.backend

    @property
    def notes(self) -> list[str]:
        """Notes of one line each: ignored settings of the checkpoint, and requested options without effect."""
        return self._core.notes

    def fingerprint(self) -> str:
        """Returns a hash of weights, versions, precision and kernels. Equal hashes mean bitwise identical results.

        >>> len(model.fingerprint())
        32
        """
        return self._core.fingerprint()
