"""The class Model."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, TypeVar, overload

from . import _classify, _encdec, _inputs, _options, _recordings, _registry, _requests
from ._errors import TokenizerError
from ._lifetime import close_at_exit
from .attention import Attention
from .live import LiveSession, open_session
from .results import Entity, ForwardResult, GenerateResult, ScoreResult, SparseVector, make_result
from .tokenizer import Tokenizer
from .transcript import Alignment, Transcript, TranscriptSegment, make_alignment, make_segment, make_transcript

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._inputs import Source
    from ._recordings import Recording
    from .results import Classification, FloatArray, Ranking

OnError = Literal["raise", "null"]
Audio = TypeVar("Audio", bound="Recording | None")

_LOAD = ("precision", "draft_precision", "assistant_model", "backend", "threads", "weights_cache")  # for load()
_AHEAD = 256  # sources that generate_iter reads ahead, for each worker


class Model:
    """A loaded checkpoint. Threads, tasks and forked processes may use a model at the same time.

    - ``path``: the checkpoint folder, as its publisher ships it, or ``"OWNER/NAME"`` of the Hugging Face hub, from its
      local cache.
    - ``precision``: the precision of matrix products.
    - ``draft_precision``: ``"int8"`` or ``"bfloat16"``: a copy of the decoder in this lower precision guesses tokens,
      and the model checks several at once. Results without beams come faster and are the same.
    - ``assistant_model``: the folder of a smaller checkpoint with the same vocabulary that guesses instead.
    - ``backend``: what multiplies matrices: ``"onednn"``, ``"encdec"`` (this package's own kernels), or ``"auto"``, the
      faster of both. None: ENCDEC_BACKEND, else ``"auto"``.
    - ``workers``: the number of batches that are decoded at the same time.
    - ``threads``: the number of threads of each worker. None: ENCDEC_THREADS, else OMP_NUM_THREADS, else the number of
      CPUs; this number is divided by ``workers``.
    - ``weights_cache``: a folder for packed weights, which makes later loads fast. None: ENCDEC_WEIGHTS_CACHE, else no
      cache.
    - ``lazy``: load the checkpoint at the first use.

    The result of a source does not depend on the number of threads, nor on other sources, except with
    ``backend="onednn"`` on some CPUs; ``notes`` says so. A model pickles as its path,
    the hash of its weights, and its options except ``weights_cache``.

    Raises FileError, ConfigError, WeightError or TokenizerError. The message names the file and the problem.

    >>> model = encdec.Model(path)
    >>> model.translate("attention")
    'AH0 T EH1 N SH AH0 N'
    """

    DEFAULTS: ClassVar[dict[str, Any]] = {
        "precision": "float32", "draft_precision": None, "assistant_model": None, "backend": None,
        "threads": None, "workers": 1, "weights_cache": None, "lazy": False
    }  # fmt: skip

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        precision: _options.Precision = "float32",
        draft_precision: Literal["bfloat16", "int8"] | None = None,
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
        self._speech_here: _encdec.SpeechModel | None = None
        self._classifier_here: _encdec.Classifier | None = None
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
        if core.reads_sound:
            self._speech_here = _encdec.SpeechModel(core)
        self._classifier_here = _encdec.Classifier(core)
        return core

    @property
    def _speech(self) -> _encdec.SpeechModel:
        core = self._core
        return self._speech_here or _encdec.SpeechModel(core)

    @property
    def _classifier(self) -> _encdec.Classifier:
        core = self._core
        return self._classifier_here or _encdec.Classifier(core)

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

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: Any) -> Model:
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

        A source is a text or a list of token ids. Token ids are used without any addition. ``prefix`` is the text, or
        the token ids, with which the result begins. Options are those of ``generate``.

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

        Options have the names and meanings of Hugging Face's GenerationConfig. The default of an option is the value
        in the checkpoint. Further options:

        - ``source_lang``, ``target_lang``: the languages, for a multilingual model.
        - ``max_source_tokens``: the maximum number of tokens of a source.
        - ``long_sources``: ``"error"`` or ``"truncate"`` for longer sources.
        - ``top_log_probs``: the number of most probable tokens to return at each position.
        - ``attention``: True to return attention, or a dict with the options of ``attention()``.
        - ``drafts``: for each source what its result may be, such as the translation of an earlier version, or None.
          Without beams, results come faster where it is right; they never change. Other guesses:
          ``draft_source=True``, ``prompt_lookup_num_tokens``. ``num_assistant_tokens`` is the number of tokens to
          guess at once.
        - ``batch_size``, ``workers``: results do not depend on these.
        - ``on_error="null"``: return None for a source that the model does not accept.

        Raises TypeError for an unknown option. Raises ConfigError for an option that is out of range or not supported
        by this model. Raises InputError or TokenizerError for a source that the model does not accept.

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

        The iterable may be endless: memory does not grow. For each worker, 256 sources are read ahead, or four batches
        if ``batch_size`` is given. Closing the iterator stops the work.

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
        """Yields the text of a source's result, piece by piece, each as soon as it is final.

        With beams, text is final once all beams share it. Closing the iterator stops the work. Python closes it when
        nothing refers to it any more.

        >>> "".join(model.stream("serendipity")) == model.translate("serendipity")
        True
        """
        submit, tokenizer = self._stream("stream", source, prefix, options)
        return _requests.pieces_here(submit, tokenizer)

    def astream(
        self, source: Source, *, prefix: Source | None = None, **options: Unpack[_options.GenerateOptions]
    ) -> AsyncGenerator[str, None]:
        """Yields the same for ``async for``. Shares batches with other requests that are awaited.

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
        """Returns the same as ``generate``, but is awaited. Requests of many tasks, with any options, share batches.

        Cancelling the task stops its sources.

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
            raise TokenizerError(f"{self._path}: no tokenizer files, which streaming text needs")
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

    def embed(self, texts: str | Iterable[str], **options: Unpack[_options.EmbedOptions]) -> FloatArray:
        """Returns one vector for each text: float32 [N, D], or [D] for a single text. Needs numpy.

        For encoder-only models. Vectors are pooled and normalised as the files of the checkpoint say
        (sentence-transformers). Options:

        - ``dimensions`` or ``truncate_dim``: keep only the first numbers of each vector.
        - ``normalize=True``: scale each vector to length 1, after ``dimensions``.
        - ``prompt``: a text to put before each text.
        - ``prompt_name``: the name of a prompt in the checkpoint, to use instead.
        - ``long_texts="error"``: raise an error for a text that is too long. By default its end is cut off.

        Raises ConfigError for a model with a decoder, and for a prompt name that the checkpoint does not have.
        """
        _options.check_names("embed", options, _options.EMBED)
        inputs, single = _inputs.as_list(texts, "texts")
        array: FloatArray = self._core.embed(inputs, options)
        return array[0] if single else array

    encode = embed

    async def aembed(self, texts: str | Iterable[str], **options: Unpack[_options.EmbedOptions]) -> FloatArray:
        """Returns the same as ``embed``, but is awaited. Texts of many tasks share batches."""
        import numpy

        _options.check_names("aembed", options, _options.EMBED)
        inputs, single = _inputs.as_list(texts, "texts")
        vectors: list[FloatArray] = await self._gather_vectors(inputs, options)
        return vectors[0] if single else numpy.stack(vectors) if inputs else self._core.embed([], options)

    @overload
    def embed_sparse(  # type: ignore[overload-overlap]
        self, texts: str, **options: Unpack[_options.EmbedTokensOptions]) -> SparseVector: ...
    @overload
    def embed_sparse(self, texts: Iterable[str], **options: Unpack[_options.EmbedTokensOptions]) -> list[SparseVector]: ...
    def embed_sparse(self, texts: Any, **options: Any) -> Any:
        """Returns a sparse vector for each text: the tokens of the vocabulary that it is about, with their weights.

        For folders with SpladePooling (sentence-transformers' SparseEncoder), masked language models, and BGE-M3. The
        score of a query and a document is the sum of the products of their values. Options are those of ``embed``,
        without ``dimensions`` and ``normalize``. Raises ConfigError for other models.
        """
        return self._embed_each("embed_sparse", texts, "sparse", options)

    @overload
    def embed_tokens(  # type: ignore[overload-overlap]
        self, texts: str, **options: Unpack[_options.EmbedTokensOptions]) -> FloatArray: ...
    @overload
    def embed_tokens(self, texts: Iterable[str], **options: Unpack[_options.EmbedTokensOptions]) -> list[FloatArray]: ...
    def embed_tokens(self, texts: Any, **options: Any) -> Any:
        """Returns the last hidden states of all tokens of each text: float32 [tokens, D], special tokens included.

        Options are those of ``embed_sparse``. Raises ConfigError for folders with SpladePooling.
        """
        return self._embed_each("embed_tokens", texts, "token", options)

    @overload
    def embed_colbert(  # type: ignore[overload-overlap]
        self, texts: str, **options: Unpack[_options.EmbedTokensOptions]) -> FloatArray: ...
    @overload
    def embed_colbert(self, texts: Iterable[str], **options: Unpack[_options.EmbedTokensOptions]) -> list[FloatArray]: ...
    def embed_colbert(self, texts: Any, **options: Any) -> Any:
        """Returns a vector of length 1 for each token of each text but the first: float32 [tokens - 1, D].

        For BGE-M3. The score of a query q and a document d is ``(q @ d.T).max(axis=1).mean()`` (late interaction).
        Options are those of ``embed_sparse``. Raises ConfigError for other models.
        """
        return self._embed_each("embed_colbert", texts, "ColBERT", options)

    async def aembed_sparse(self, texts: Any, **options: Any) -> Any:
        """Returns the same as ``embed_sparse``, but is awaited. Texts of many tasks share batches."""
        return await self._aembed_each("aembed_sparse", texts, "sparse", options)

    async def aembed_tokens(self, texts: Any, **options: Any) -> Any:
        """Returns the same as ``embed_tokens``, but is awaited. Texts of many tasks share batches."""
        return await self._aembed_each("aembed_tokens", texts, "token", options)

    async def aembed_colbert(self, texts: Any, **options: Any) -> Any:
        """Returns the same as ``embed_colbert``, but is awaited. Texts of many tasks share batches."""
        return await self._aembed_each("aembed_colbert", texts, "ColBERT", options)

    def _embed_each(self, function: str, texts: Any, output: str, options: dict[str, Any]) -> Any:
        _options.check_names(function, options, _options.EMBED_TOKENS)
        inputs, single = _inputs.as_list(texts, "texts")
        return _made(self._core.embed(inputs, {**options, "output": output}), single)

    async def _aembed_each(self, function: str, texts: Any, output: str, options: dict[str, Any]) -> Any:
        _options.check_names(function, options, _options.EMBED_TOKENS)
        inputs, single = _inputs.as_list(texts, "texts")
        return _made(await self._gather_vectors(inputs, {**options, "output": output}), single)

    async def _gather_vectors(self, inputs: list[Any], options: Any) -> list[Any]:
        queue, core = self._queue, self._core

        def submit(inbox: _encdec.Inbox, number: int, indices: list[int]) -> _encdec.Request:
            return queue.embed(inbox, number, core, [inputs[each] for each in indices], options)

        return await _requests.gather(submit, len(inputs), False)

    @overload
    def classify(  # type: ignore[overload-overlap]
        self, texts: str, pairs: str | None = None, *, labels: str | Iterable[str] | None = None,
        hypothesis_template: str = ..., multi_label: bool = False,
        **options: Unpack[_options.ClassifyOptions]) -> Classification: ...
    @overload
    def classify(self, texts: Iterable[str], pairs: Iterable[str] | None = None, *,
                 labels: str | Iterable[str] | None = None, hypothesis_template: str = ..., multi_label: bool = False,
                 **options: Unpack[_options.ClassifyOptions]) -> list[Classification]: ...
    def classify(self, texts: Any, pairs: Any = None, **options: Any) -> Any:
        """Returns the labels of each text, or of each pair of texts, with their scores, the best first.

        For classifiers: ``architectures`` in their config.json end with ForSequenceClassification. Scores are those of
        transformers' pipelines. Options:

        - ``labels``: labels to choose from, for a natural language inference model (zero-shot classification).
          ``hypothesis_template`` is the sentence with ``{}`` in place of the label. With ``multi_label=True`` each label
          has a score of its own, from 0 to 1.
        - ``max_length``, ``truncation``, ``long_texts="error"``: the handling of texts that are too long.
        - ``function_to_apply``: ``"none"``, ``"sigmoid"`` or ``"softmax"``, in place of the model's own.

        Raises ConfigError for a model that is no classifier of texts.
        """
        return self._run(self._plan_classify("classify", texts, pairs, options))

    async def aclassify(self, texts: Any, pairs: Any = None, **options: Any) -> Any:
        """Returns the same as ``classify``, but is awaited. Texts of many tasks share batches."""
        return await self._arun(self._plan_classify("aclassify", texts, pairs, options))

    def rerank(self, query: str, documents: Iterable[str], top_n: int | None = None, *, raw_scores: bool = False,
               **options: Unpack[_options.RerankOptions]) -> list[Ranking]:
        """Returns how well each document answers the query, the best first; with ``top_n`` only that many.

        For models with one label (cross-encoders). Their files say whether a score is a logit or from 0 to 1; with
        ``raw_scores`` it is the logit. Equal scores stay in the order of the documents. Raises ConfigError for other
        models, and InputError if there are no documents.
        """
        _options.check_names("rerank", options, _options.RERANK)
        plan = _classify.rerank(self._classifier, self.path, query, documents, top_n, raw_scores, options)
        found: list[Ranking] = self._run(plan)
        return found

    async def arerank(self, query: str, documents: Iterable[str], top_n: int | None = None, *, raw_scores: bool = False,
                      **options: Unpack[_options.RerankOptions]) -> list[Ranking]:
        """Returns the same as ``rerank``, but is awaited. Documents of many tasks share batches."""
        _options.check_names("arerank", options, _options.RERANK)
        plan = _classify.rerank(self._classifier, self.path, query, documents, top_n, raw_scores, options)
        found: list[Ranking] = await self._arun(plan)
        return found

    @overload
    def tag(  # type: ignore[overload-overlap]
        self, texts: str, **options: Unpack[_options.TagOptions]) -> list[Entity]: ...
    @overload
    def tag(self, texts: Iterable[str], **options: Unpack[_options.TagOptions]) -> list[list[Entity]]: ...
    def tag(self, texts: Any, **options: Any) -> Any:
        """Returns the entities of each text: names of persons, places and the like, as the model was trained.

        For classifiers of tokens: ``architectures`` in their config.json end with ForTokenClassification. Options:

        - ``aggregation``: how tokens become entities, as in transformers: ``"none"``, ``"simple"``, ``"first"``,
          ``"average"`` or ``"max"``.
        - ``ignore_labels``: labels of entities to leave out, ``["O"]`` by default.
        - ``stride``: a text that is too long is read in windows, of which neighbours have this number of tokens in
          common; as in transformers, for all aggregations but ``"none"``.
        - ``max_length``, ``long_texts="error"``: the handling of texts that are too long.

        Raises ConfigError for other models.
        """
        _options.check_names("tag", options, _options.TAG)
        inputs, single = _inputs.as_list(texts, "texts")
        found = [[Entity(**each) for each in entities] for entities in self._classifier.tag(inputs, options)]
        return found[0] if single else found

    async def atag(self, texts: Any, **options: Any) -> Any:
        """Returns the same as ``tag``, but is awaited. Texts of many tasks share batches."""
        _options.check_names("atag", options, _options.TAG)
        inputs, single = _inputs.as_list(texts, "texts")
        queue, classifier = self._queue, self._classifier

        def submit(inbox: _encdec.Inbox, number: int, indices: list[int]) -> _encdec.Request:
            return queue.tag(inbox, number, classifier, [inputs[each] for each in indices], options)

        rows = await _requests.gather(submit, len(inputs), False)
        found = [[Entity(**each) for each in entities] for entities in rows]
        return found[0] if single else found

    def _plan_classify(self, function: str, texts: Any, pairs: Any, options: dict[str, Any]) -> _classify.Plan:
        labels = options.pop("labels", None)
        template = options.pop("hypothesis_template", "This example is {}.")
        multi_label = options.pop("multi_label", False)
        _options.check_names(function, options, _options.CLASSIFY)
        if labels is None:
            return _classify.classify(self._classifier, texts, pairs, options)
        if pairs is not None:
            raise TypeError(f"{function}() got both 'pairs' and 'labels'")
        return _classify.by_labels(self._classifier, texts, labels, template, multi_label, options)

    def _run(self, plan: _classify.Plan) -> Any:
        return plan.finish(self._classifier.classify(plan.texts, plan.seconds, plan.options))

    async def _arun(self, plan: _classify.Plan) -> Any:
        queue, classifier = self._queue, self._classifier

        def submit(inbox: _encdec.Inbox, number: int, indices: list[int]) -> _encdec.Request:
            seconds = None if plan.seconds is None else [plan.seconds[each] for each in indices]
            texts = [plan.texts[each] for each in indices]
            return queue.classify(inbox, number, classifier, texts, seconds, plan.options)

        return plan.finish(await _requests.gather(submit, len(plan.texts), False))

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
        """Runs the model once over rows of token ids. Returns logits [B, T, V] and encoder states [B, S, D], float32.

        Needs numpy. Each target begins with the decoder start token. An encoder-only model takes no targets, a
        decoder-only model no sources. Raises InputError if the numbers of sources and targets differ, if a row is
        empty or too long, or for an unknown id.

        >>> model.forward([[5, 6, 0]], [[67, 3]]).logits.shape == (1, 2, model.config["decoder"]["vocabulary"])
        True
        """
        rows = [[] if each is None else _inputs.as_list(each, what)[0] for each, what in
                ((sources, "sources"), (targets, "targets"))]  # fmt: skip
        return ForwardResult(**self._core.forward(*rows))

    def attention(
        self, source: Source, target: Source | None = None, **options: Unpack[_options.AttentionOptions]
    ) -> Attention:
        """Returns the attention weights for a source and a target. Without a target the model generates one.

        Needs numpy. ``kinds`` is a list of ``"encoder"``, ``"decoder"`` and ``"cross"``. ``layers`` and ``heads`` are
        each a number, ``"mean"`` or ``"all"``.

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

    @overload
    def transcribe(  # type: ignore[overload-overlap]
        self, audio: Recording, *, sampling_rate: int | None = None, **options: Unpack[_options.TranscribeOptions]
    ) -> Transcript: ...
    @overload
    def transcribe(
        self,
        audio: Iterable[Recording],
        *,
        sampling_rate: int | None = None,
        on_error: Literal["raise"] = "raise",
        **options: Unpack[_options.TranscribeOptions],
    ) -> list[Transcript]: ...
    @overload
    def transcribe(
        self,
        audio: Iterable[Recording | None],
        *,
        sampling_rate: int | None = None,
        on_error: Literal["null"],
        **options: Unpack[_options.TranscribeOptions],
    ) -> list[Transcript | None]: ...
    def transcribe(
        self, audio: Any, *, sampling_rate: int | None = None, on_error: str = "raise", **options: Any
    ) -> Any:
        """Returns the transcript of a recording, or a list of transcripts for a list of recordings.

        A recording is a path, the bytes of a file, a file opened for bytes, or an array [N] of samples. Samples are
        float from -1 to 1, or int16; ``sampling_rate`` is the number of samples per second (16,000). Files may be WAV.
        FLAC, MP3, Ogg and other formats need a build with libsndfile, which wheels are not.

        These options have the names and meanings of openai-whisper. Defaults are in parentheses:

        - ``language``: a code or a name (None: detected).
        - ``task``: ``"transcribe"`` or ``"translate"``.
        - ``temperature``: tried one after the other until a window's text is neither repetitive nor improbable (0.0,
          0.2, ... 1.0).
        - ``beam_size`` (5), ``best_of`` (5), ``patience``, ``length_penalty``, ``suppress_tokens`` ([-1]).
        - ``initial_prompt``, ``carry_initial_prompt``, ``condition_on_previous_text`` (True).
        - ``compression_ratio_threshold`` (2.4), ``logprob_threshold`` (-1.0), ``no_speech_threshold`` (0.6); None
          disables a threshold.
        - ``without_timestamps``, ``max_initial_timestamp`` (1.0), ``clip_timestamps``.
        - ``word_timestamps``, ``prepend_punctuations``, ``append_punctuations``, ``hallucination_silence_threshold``.

        Further options:

        - ``hotwords``: words given to the model before every window.
        - ``vad_model``: a .safetensors file of Silero's voice activity detector. Only speech is transcribed.
        - ``vad_parameters``: a dict with options of the detector, with the keys of faster-whisper.
        - ``prompt_reset_on_temperature`` (0.5), ``seed``.
        - ``drafts``: for each recording what its text may be, such as an earlier transcript, or None. Where it is right,
          greedy search is faster; the transcript never changes. More guesses: ``prompt_lookup_num_tokens``.
          ``num_assistant_tokens`` is the number of tokens to guess at once; None: follows how many were right.
        - ``batch_size``, ``workers``: results do not depend on these.
        - ``on_error="null"``: return None for a recording that cannot be read.

        Raises TypeError for an unknown option. Raises ConfigError for an option that is out of range, and for a model
        that is not for speech. Raises FileError or InputError for a recording that cannot be read.

        >>> transcript = speech_model.transcribe(recording, language="German", beam_size=1)
        >>> transcript.language, transcript.duration
        ('de', 0.5)
        >>> transcript.segments[0].start < transcript.segments[0].end
        True
        """
        sounds, single, options = self._sounds("transcribe", audio, sampling_rate, on_error, options)
        null = _inputs.is_null(on_error)
        if not null:
            for sound in sounds:
                sound.open()  # a file that is missing is an error now, not after hours
        numbered = ((number, each) for number, each in enumerate(sounds))
        found = dict(_requests.transcripts(self._speech, numbered, options, null))
        return self._transcripts([found[number] for number in range(len(sounds))], single, options)

    @overload
    async def atranscribe(  # type: ignore[overload-overlap]
        self, audio: Recording, *, sampling_rate: int | None = None, **options: Unpack[_options.TranscribeOptions]
    ) -> Transcript: ...
    @overload
    async def atranscribe(
        self,
        audio: Iterable[Recording],
        *,
        sampling_rate: int | None = None,
        on_error: Literal["raise"] = "raise",
        **options: Unpack[_options.TranscribeOptions],
    ) -> list[Transcript]: ...
    @overload
    async def atranscribe(
        self,
        audio: Iterable[Recording | None],
        *,
        sampling_rate: int | None = None,
        on_error: Literal["null"],
        **options: Unpack[_options.TranscribeOptions],
    ) -> list[Transcript | None]: ...
    async def atranscribe(
        self, audio: Any, *, sampling_rate: int | None = None, on_error: str = "raise", **options: Any
    ) -> Any:
        """Returns the same as ``transcribe``, but is awaited. Recordings of many tasks share batches.

        Cancelling the task stops its recordings.

        >>> import asyncio
        >>> asyncio.run(speech_model.atranscribe(recording)) == speech_model.transcribe(recording)
        True
        """
        sounds, single, options = self._sounds("atranscribe", audio, sampling_rate, on_error, options)
        there = [sound for sound in sounds if sound is not None]
        values = iter(await self._gather_sounds(there, options, _inputs.is_null(on_error)))
        return self._transcripts([each and next(values) for each in sounds], single, options)

    async def _gather_sounds(self, sounds: list[_encdec.Sound], options: Any, null: bool) -> list[Any]:
        queue, speech = self._queue, self._speech

        def submit(inbox: _encdec.Inbox, number: int, indices: list[int]) -> _encdec.Request:
            return queue.submit_sound(inbox, number, speech, sounds[indices[0]], options)

        return await _requests.gather(submit, len(sounds), null, one_by_one=True)

    @overload
    def align(  # type: ignore[overload-overlap]
        self, audio: Recording, text: str, *, sampling_rate: int | None = None, **options: Unpack[_options.AlignOptions]
    ) -> Alignment: ...
    @overload
    def align(
        self,
        audio: Iterable[Recording],
        text: Iterable[str],
        *,
        sampling_rate: int | None = None,
        **options: Unpack[_options.AlignOptions],
    ) -> list[Alignment]: ...
    def align(self, audio: Any, text: Any, *, sampling_rate: int | None = None, **options: Any) -> Any:
        """Returns when each word of a known text is said in a recording; a list for lists of recordings and texts.

        Each line of the text gets times, too. Words that are not found have none: they are in ``unaligned``.
        A recording is that of ``transcribe``. These options are those of ``transcribe``: ``language``, ``vad_model``,
        ``vad_parameters``, ``batch_size`` and ``workers``.

        Raises InputError for a text without words; else as ``transcribe``.

        >>> alignment = speech_model.align(recording, "A text\\nof two lines.")
        >>> [line.text for line in alignment.segments], len(alignment.words) + len(alignment.unaligned)
        (['A text', 'of two lines.'], 5)
        """
        sounds, single, options = self._known_texts("align", audio, text, sampling_rate, options)
        for sound in sounds:
            sound.open()
        found = dict(_requests.transcripts(self._speech, enumerate(sounds), options, False))
        alignments = [make_alignment(found[number]) for number in range(len(sounds))]
        return alignments[0] if single else alignments

    @overload
    async def aalign(  # type: ignore[overload-overlap]
        self, audio: Recording, text: str, *, sampling_rate: int | None = None, **options: Unpack[_options.AlignOptions]
    ) -> Alignment: ...
    @overload
    async def aalign(
        self,
        audio: Iterable[Recording],
        text: Iterable[str],
        *,
        sampling_rate: int | None = None,
        **options: Unpack[_options.AlignOptions],
    ) -> list[Alignment]: ...
    async def aalign(self, audio: Any, text: Any, *, sampling_rate: int | None = None, **options: Any) -> Any:
        """Returns the same as ``align``, but is awaited. Cancelling the task stops its recordings."""
        sounds, single, options = self._known_texts("aalign", audio, text, sampling_rate, options)
        alignments = [make_alignment(each) for each in await self._gather_sounds(sounds, options, False)]
        return alignments[0] if single else alignments

    def _known_texts(
        self, function: str, audio: Any, text: Any, sampling_rate: int | None, options: Any
    ) -> tuple[list[Any], bool, dict[str, Any]]:
        """Returns the recordings with their texts, whether the argument was a single one, and the options."""
        _options.check_names(function, options, _options.ALIGN)
        sounds, single, options = self._sounds(function, audio, sampling_rate, "raise", options)
        if isinstance(text, str) and not single:
            raise TypeError("text: str for a list of recordings, expected a list of texts, one for each recording")
        for sound, each in zip(sounds, _inputs.one_each("text", text, len(sounds), single)):
            if not isinstance(each, str):
                raise TypeError(f"text: {type(each).__name__}, expected str")
            sound.set_text(each)
        return sounds, single, options

    def _sounds(
        self, function: str, audio: Any, sampling_rate: int | None, on_error: str, options: Any
    ) -> tuple[list[Any], bool, dict[str, Any]]:
        """Returns the recordings for the engine, whether the argument was a single one, and the options."""
        options = self._transcribe_options(function, options)
        null = _inputs.is_null(on_error)
        recordings, single = _recordings.as_list(audio)
        drafts = _inputs.one_each("draft", options.pop("drafts", None), len(recordings), single)
        sounds = []
        for number, (each, draft) in enumerate(zip(recordings, drafts), 1):
            name = "audio" if single else f"recording {number}"
            sound = _recordings.make_sound(each, name, sampling_rate, null)
            if draft is not None and not isinstance(draft, str):
                raise TypeError(f"drafts: {type(draft).__name__}, expected str or None")
            if sound is not None and draft is not None:
                sound.set_draft(draft)
            sounds.append(sound)
        return sounds, single, options

    def _transcripts(self, found: list[Any], single: bool, options: Any) -> Any:
        has_words = bool(options.get("word_timestamps"))
        transcripts = [each and make_transcript(each, has_words) for each in found]
        return transcripts[0] if single else transcripts

    @overload
    def transcribe_iter(  # type: ignore[overload-overlap]
        self, audio: Recording, *, sampling_rate: int | None = None, **options: Unpack[_options.TranscribeOptions]
    ) -> Generator[TranscriptSegment, None, Transcript]: ...
    @overload
    def transcribe_iter(
        self,
        audio: Iterable[Audio],
        *,
        sampling_rate: int | None = None,
        on_error: Literal["raise"] = "raise",
        **options: Unpack[_options.TranscribeOptions],
    ) -> Generator[tuple[Audio, Transcript], None, None]: ...
    @overload
    def transcribe_iter(
        self,
        audio: Iterable[Audio],
        *,
        sampling_rate: int | None = None,
        on_error: Literal["null"],
        **options: Unpack[_options.TranscribeOptions],
    ) -> Generator[tuple[Audio, Transcript | None], None, None]: ...
    def transcribe_iter(
        self, audio: Any, *, sampling_rate: int | None = None, on_error: str = "raise", **options: Any
    ) -> Any:
        """Yields the segments of one recording, or the transcripts of several recordings.

        For one recording: yields each segment as soon as it is final. The generator returns the transcript.

        For an iterable of recordings, which may be endless: yields pairs of a recording and its transcript, in the
        order in which they are finished. So a long recording does not delay shorter ones after it. At most 48
        recordings for each worker are read ahead, and memory does not grow with their number.

        Closing the iterator stops the work. Python closes it when nothing refers to it any more.

        >>> [segment.id for segment in speech_model.transcribe_iter(recording)]
        [0, 1]
        >>> [transcript.duration for path, transcript in speech_model.transcribe_iter([recording, recording])]
        [0.5, 0.5]
        """
        if options.pop("drafts", None) is not None:
            raise TypeError("transcribe_iter: drafts, expected none: transcribe() takes them")
        options = self._transcribe_options("transcribe_iter", options)
        null = _inputs.is_null(on_error)
        if _recordings.is_single(audio):
            if null:
                raise ValueError("on_error is 'null', expected 'raise' for the segments of one recording")
            return _segments(self._speech, _recordings.make_sound(audio, "audio", sampling_rate, False), options)
        return _pairs(self._speech, _recordings.as_iterable(audio), sampling_rate, null, options)

    def live(
        self,
        *,
        sampling_rate: int = _recordings.SAMPLING_RATE,
        partials: bool | Literal["always"] = True,
        **options: Unpack[_options.LiveOptions],
    ) -> LiveSession:
        """Returns a session that transcribes speech while it is spoken.

        Speech is cut into utterances at pauses, and each is transcribed as ``transcribe`` does. The text depends on
        nothing but the samples. Options are those of ``transcribe``, and:

        - ``partials``: also give texts of what is still spoken. If the model is too slow for all, some are left out,
          except with ``"always"``.
        - ``step_ms`` (1000): time between two partial texts.
        - ``silence_duration_ms`` (500): silence that ends an utterance.
        - ``prefix_padding_ms`` (300): sound before speech that belongs to the utterance.
        - ``threshold`` (0.5): probability at which speech begins.
        - ``max_utterance_s``: a longer utterance is cut where it is quietest (0: 14/15 of the model's window).
        - ``finds_utterances=False``: the caller ends utterances with ``commit()``.

        Speech is found by the detector ``vad_model``, else by its loudness. Raises as ``transcribe`` does.

        >>> import numpy
        >>> with speech_model.live() as session:
        ...     session.feed(numpy.zeros(16_000, "float32"))
        ...     session.finish()
        ...     [event.text for event in session if event.kind == "final"]
        []
        """
        _options.check_names("live", options, _options.TRANSCRIBE | _options.LIVE)
        live: dict[str, Any] = {name: value for name, value in options.items() if name in _options.LIVE}
        live["partials"] = partials if isinstance(partials, str) else "auto" if partials else "none"
        others = {name: value for name, value in options.items() if name not in live}
        return open_session(self._queue, self._speech, live, self._transcribe_options("live", others), sampling_rate)

    def _transcribe_options(self, function: str, options: dict[str, Any]) -> dict[str, Any]:
        _options.check_names(function, options, _options.TRANSCRIBE)
        for name, kind in (("suppress_tokens", int), ("clip_timestamps", float)):
            if isinstance(options.get(name), str):
                options[name] = _options.parse_numbers(name, options[name], kind)
        if isinstance(options.get("vad_model"), (str, os.PathLike)):
            options["vad_model"] = os.fsencode(_inputs.as_path(options["vad_model"]))
        if options.get("workers") is None:
            options["workers"] = self._settings["workers"]
        return options

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
        """The generation options in the checkpoint, with the names of transformers."""
        return self._core.generation_config

    @property
    def precision(self) -> str:
        """The precision of matrix products. For ``"auto"``, the precision that was chosen."""
        return self._core.precision

    @property
    def backend(self) -> str:
        """What multiplies matrices in the model's precision: ``"encdec (panels)"``."""
        return self._core.backend

    @property
    def notes(self) -> list[str]:
        """Notes, one line each: settings in the folder that are ignored, and requested options without effect."""
        return self._core.notes

    def fingerprint(self) -> str:
        """Returns a hash of weights, versions, precision and kernels. If it is equal, results are bitwise equal.

        >>> len(model.fingerprint())
        32
        """
        return self._core.fingerprint()


def _segments(
    model: _encdec.SpeechModel, sound: _encdec.Sound | None, options: Any
) -> Generator[TranscriptSegment, None, Transcript]:
    assert sound is not None
    has_words = bool(options.get("word_timestamps"))
    segments: list[TranscriptSegment] = []
    fields: dict[str, Any] = {}
    for kind, fields in _requests.segments_of(model, sound, options):
        if kind == "segment":
            segments.append(make_segment(fields, has_words))
            yield segments[-1]
    transcript = make_transcript(fields, has_words)
    transcript.segments.extend(segments)
    return transcript


def _pairs(
    model: _encdec.SpeechModel, recordings: Iterable[Any], sampling_rate: int | None, null: bool, options: Any
) -> Generator[tuple[Any, Transcript | None], None, None]:
    """Yields pairs of a recording and its transcript."""
    under_way: dict[int, Any] = {}

    def sounds() -> Iterator[tuple[int, _encdec.Sound | None]]:
        for number, recording in enumerate(recordings, 1):
            under_way[number] = recording
            yield number, _recordings.make_sound(recording, f"recording {number}", sampling_rate, null)

    has_words = bool(options.get("word_timestamps"))
    for number, fields in _requests.transcripts(model, sounds(), options, null):
        yield under_way.pop(number), fields and make_transcript(fields, has_words)


def _made(rows: Iterable[Any], single: bool) -> Any:
    """Returns arrays as they are, and the fields of sparse vectors as objects; the only one of a single text."""
    found = [SparseVector(**each) if isinstance(each, dict) else each for each in rows]
    return found[0] if single else found


_registry.model_class = Model


def open_model(path: str | os.PathLike[str], **options: Any) -> Model:
    """Returns a model with these options, which is loaded once per process. For functions that run on a cluster.

    >>> encdec.open_model(path) is encdec.open_model(path, precision="float32")
    True
    """
    model: Model = _registry.open_model(path, options)
    return model
