"""The class Model."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal, overload

from . import _inputs, _options, _registry
from ._iterate import iterate
from ._transcribing import Transcribing
from .attention import Attention
from .results import ForwardResult, GenerateResult, ScoreResult, make_result
from .tokenizer import Tokenizer

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._inputs import Source
    from .results import FloatArray

OnError = Literal["raise", "null"]


class Model(Transcribing):
    """A loaded checkpoint. Threads, tasks and forked processes may use a model at the same time.

    - ``path``: the checkpoint folder, as its publisher ships it.
    - ``precision``: the precision of matrix products.
    - ``workers``: the number of batches that are decoded at the same time.
    - ``threads``: the number of threads of each worker. None: ENCDEC_THREADS, else OMP_NUM_THREADS, else the number of
      CPUs; this number is divided by ``workers``.
    - ``weights_cache``: a folder for packed weights, which makes later loads fast. None: ENCDEC_WEIGHTS_CACHE, else no
      cache.
    - ``lazy``: load the checkpoint at the first use.

    The result of a source does not depend on other sources, nor on the number of threads. A model pickles as its path,
    the hash of its weights, and its options except ``weights_cache``.

    Raises FileError, ConfigError, WeightError or TokenizerError. The message names the file and the problem.

    >>> model = encdec.Model(path)
    >>> model.translate("attention")
    'AH0 T EH1 N SH AH0 N'
    """

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
        chosen = [each and each[0][0][0] for each in texts]
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
        prefixes = _inputs.as_prefixes(prefix, len(inputs), single)
        return self._core.generate(inputs, prefixes, options, null), single

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
        return iterate(self._core, self._tokenizer, _inputs.plain(sources), _inputs.is_null(on_error), options)

    def embed(self, texts: str | Iterable[str], **options: Unpack[_options.EmbedOptions]) -> FloatArray:
        """Returns one vector for each text: float32 [N, D], or [D] for a single text. Needs numpy.

        For encoder-only models. Vectors are pooled and normalised as the files of the checkpoint say
        (sentence-transformers). Options:

        - ``dimensions``: keep only the first numbers of each vector.
        - ``normalize=True``: scale each vector to length 1, after ``dimensions``.
        - ``prompt``: a text to put before each text.
        - ``prompt_name``: the name of a prompt in the checkpoint, to use instead.
        - ``long_texts="error"``: raise an error for a text that is too long. By default its end is cut off.

        Raises ConfigError for a model with a decoder, and for a prompt name that the checkpoint does not have.
        """
        _options.check_names("embed", options, _options.EMBED)
        inputs, single = _inputs.as_list(texts, "texts")
        array = self._core.embed(inputs, options)
        return array[0] if single else array

    encode = embed

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
        results = [ScoreResult(*each) for each in self._core.score(source_list, target_list, options)]
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
        return ForwardResult(*self._core.forward(*rows))

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
    def notes(self) -> list[str]:
        """Notes, one line each: settings in the folder that are ignored, and requested options without effect."""
        return self._core.notes

    def fingerprint(self) -> str:
        """Returns a hash of weights, versions, precision and kernels. If it is equal, results are bitwise equal.

        >>> len(model.fingerprint())
        32
        """
        return self._core.fingerprint()


for _class in Model.__mro__[1:-1]:
    for _function in vars(_class).values():
        if isinstance(_function, FunctionType):  # so that Python's TypeErrors say Model.generate
            _function.__module__, _function.__qualname__ = __name__, f"Model.{_function.__name__}"


_registry.model_class = Model


def open_model(path: str | os.PathLike[str], **options: Any) -> Model:
    """Returns a model with these options, which is loaded once per process. For functions that run on a cluster.

    >>> encdec.open_model(path) is encdec.open_model(path, precision="float32")
    True
    """
    model: Model = _registry.open_model(path, options)
    return model
