"""A checkpoint folder, ready to use."""

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
    """A checkpoint folder, ready to use, by any number of threads, tasks and forked processes at once.

    ``path`` is a folder as its publisher ships it. ``precision`` is what matmuls compute in. ``threads`` work inside
    one operation (None: what ENCDEC_THREADS or OMP_NUM_THREADS says, or the CPUs that there are), ``workers`` decode
    batches side by side and share those. ``weights_cache`` is a folder for packed weights, which makes later loads
    quick (None: what ENCDEC_WEIGHTS_CACHE says, or none). With ``lazy=True`` it is loaded when it is first used. A model
    pickles as its path, the hash of its weights, and options other than ``weights_cache``. A source's result does not
    depend on what else is asked for at once, or on the number of threads.

    Raises FileError, ConfigError, WeightError or TokenizerError: what is wrong with which file.

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
        """The text that the model makes of a source, or of each source in a list.

        A source is text, or token ids, which are used exactly as given; ``prefix`` is what results begin with, in the
        same form. Options are those of ``generate``.

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
        """One result a source, in their order; a decoder-only model goes on with it as the beginning of a text.

        Options have the names and meanings of Hugging Face's GenerationConfig; what is not given comes from the
        checkpoint. Beyond those: ``source_lang`` and ``target_lang``, ``max_source_tokens`` and ``long_sources``
        (``"error"`` or ``"truncate"``), ``top_log_probs`` (so many likeliest tokens at each place), ``attention``
        (True, or a dict as ``attention()`` takes), ``batch_size`` and ``workers``, on which results do not depend.
        With ``on_error="null"`` a source that the model cannot take gives None.

        Raises TypeError for an option that is not known, ConfigError for one that is out of range or not supported by
        this model, InputError and TokenizerError for sources that the model cannot take.

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
        """The same for any iterable, also an endless one: results come in order, and memory does not grow.

        Sources are taken a few hundred ahead (or four batches of ``batch_size``). Closing the iterator ends the work.

        >>> lines = (word for word in ["one", "two"])
        >>> [result.text for result in model.generate_iter(lines)]
        ['W AH1 N', 'T UW1']
        """
        options = self._generate_options("generate_iter", options)
        if _inputs.is_single(sources) or not isinstance(sources, Iterable):
            raise TypeError(f"sources: {type(sources).__name__}, expected an iterable of sources")
        return iterate(self._core, self._tokenizer, _inputs.plain(sources), _inputs.is_null(on_error), options)

    def embed(self, texts: str | Iterable[str], **options: Unpack[_options.EmbedOptions]) -> FloatArray:
        """One vector a text: float32 [N, D]; [D] for a single text. Encoder-only models; needs numpy.

        They are pooled and normalised as the checkpoint's own files say (sentence-transformers). ``normalize=True``
        scales them to length 1 at any rate, after only the first ``dimensions`` numbers are left; ``prompt`` goes in
        front of each text, or the folder's of ``prompt_name``; ``long_texts="error"`` refuses what is else cut off.

        Raises ConfigError for models with a decoder and for prompts that the folder does not name.
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
        """How likely the model finds each target after its source (teacher forcing).

        Raises InputError if there are not as many targets as sources.

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
        """One pass over rows of token ids: logits [B, T, V] and encoder states [B, S, D], float32. Needs numpy.

        Targets begin with the decoder start token. An encoder-only model has no targets, a decoder-only one no
        sources. Raises InputError if the numbers are not so, a row is empty or too long, or an id is unknown.

        >>> model.forward([[5, 6, 0]], [[67, 3]]).logits.shape == (1, 2, model.config["decoder"]["vocabulary"])
        True
        """
        rows = [[] if each is None else _inputs.as_list(each, what)[0] for each, what in
                ((sources, "sources"), (targets, "targets"))]  # fmt: skip
        return ForwardResult(*self._core.forward(*rows))

    def attention(
        self, source: Source, target: Source | None = None, **options: Unpack[_options.AttentionOptions]
    ) -> Attention:
        """What the model looks at while it reads a source and a target; without a target it generates one.

        ``kinds`` has some of ``"encoder"``, ``"decoder"`` and ``"cross"``, ``layers`` and ``heads`` are a number,
        ``"mean"`` or ``"all"``. Needs numpy.

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
        """None where the folder has no tokenizer."""
        return Tokenizer(self._tokenizer) if self._tokenizer is not None else None

    @property
    def config(self) -> dict[str, Any]:
        """Sizes: ``model_dim``, and of ``encoder`` and ``decoder`` layers, heads, hidden_dim and vocabulary."""
        return self._core.config

    @property
    def generation_config(self) -> dict[str, Any]:
        """The checkpoint's own options of generation, by transformers' names."""
        return self._core.generation_config

    @property
    def precision(self) -> str:
        """In what matmuls compute; what ``"auto"`` became."""
        return self._core.precision

    @property
    def notes(self) -> list[str]:
        """What in the folder this version passes over, and what it does otherwise than asked, a line each."""
        return self._core.notes

    def fingerprint(self) -> str:
        """Equal where results are, bit by bit: a hash of weights, versions, precision and kernels.

        >>> len(model.fingerprint())
        32
        """
        return self._core.fingerprint()


for _class in Model.__mro__[1:-1]:
    for _function in vars(_class).values():
        if isinstance(_function, FunctionType):  # messages of Python name it as users do
            _function.__module__, _function.__qualname__ = __name__, f"Model.{_function.__name__}"


_registry.model_class = Model


def open_model(path: str | os.PathLike[str], **options: Any) -> Model:
    """The model of this folder with these options, loaded once in a process: what functions of clusters call.

    >>> encdec.open_model(path) is encdec.open_model(path, precision="float32")
    True
    """
    model: Model = _registry.open_model(path, options)
    return model
