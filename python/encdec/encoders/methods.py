"""The methods of class Model for vectors, labels and ranks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

from .. import _base, _encdec, _inputs, _requests
from .._options import check_names
from . import _engine, plans
from . import options as _options
from .results import Entity, SparseVector

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..results import FloatArray
    from .results import Classification, Ranking


class Model(_base.Model):
    _classifier_here: _engine.Classifier | None = None

    def _loaded(self, core: _encdec.Model) -> None:
        super()._loaded(core)
        self._classifier_here = _engine.Classifier(core)

    @property
    def _classifier(self) -> _engine.Classifier:
        return self._classifier_here or _engine.Classifier(self._core)

    def embed(self, texts: str | Iterable[str], **options: Unpack[_options.EmbedOptions]) -> FloatArray:
        """Returns one vector for each text: float32 [N, D], or [D] for a single text. Needs numpy.

        For encoder-only models. The checkpoint's files (sentence-transformers) define pooling and normalisation.
        Options:

        - ``dimensions`` or ``truncate_dim``: truncate each vector to this length.
        - ``normalize=True``: scale each vector, after truncation, to norm 1.
        - ``prompt``: a text to put before each text.
        - ``prompt_name``: the name of a prompt in the checkpoint, to use instead of ``prompt``.
        - ``long_texts="error"``: raise an error for a text that is too long. By default it is truncated.

        Raises ConfigError for a model with a decoder, and for a prompt name that the checkpoint does not have.
        """
        check_names("embed", options, _options.EMBED)
        inputs, single = _inputs.as_list(texts, "texts")
        array: FloatArray = _engine.embed(self._core, inputs, options)
        return array[0] if single else array

    encode = embed

    async def aembed(self, texts: str | Iterable[str], **options: Unpack[_options.EmbedOptions]) -> FloatArray:
        """Like ``embed``, but awaited. Texts of many tasks share batches."""
        import numpy

        check_names("aembed", options, _options.EMBED)
        inputs, single = _inputs.as_list(texts, "texts")
        vectors: list[FloatArray] = await self._gather_vectors(inputs, options)
        return vectors[0] if single else numpy.stack(vectors) if inputs else _engine.embed(self._core, [], options)

    @overload
    def embed_sparse(  # type: ignore[overload-overlap]
        self, texts: str, **options: Unpack[_options.EmbedTokensOptions]) -> SparseVector: ...
    @overload
    def embed_sparse(self, texts: Iterable[str], **options: Unpack[_options.EmbedTokensOptions]) -> list[SparseVector]: ...
    def embed_sparse(self, texts: Any, **options: Any) -> Any:
        """Returns a sparse vector for each text: weights of the vocabulary's tokens that describe it.

        For folders with SpladePooling (sentence-transformers' SparseEncoder), masked language models, and BGE-M3. The
        score of a query and a document is the dot product of their vectors. Takes the options of ``embed``
        except ``dimensions`` and ``normalize``. Raises ConfigError for other models.
        """
        return self._embed_each("embed_sparse", texts, "sparse", options)

    @overload
    def embed_tokens(  # type: ignore[overload-overlap]
        self, texts: str, **options: Unpack[_options.EmbedTokensOptions]) -> FloatArray: ...
    @overload
    def embed_tokens(self, texts: Iterable[str], **options: Unpack[_options.EmbedTokensOptions]) -> list[FloatArray]: ...
    def embed_tokens(self, texts: Any, **options: Any) -> Any:
        """Returns the last hidden states of each text: float32 [tokens, D], with special tokens.

        Takes the options of ``embed_sparse``. Raises ConfigError for folders with SpladePooling.
        """
        return self._embed_each("embed_tokens", texts, "token", options)

    @overload
    def embed_colbert(  # type: ignore[overload-overlap]
        self, texts: str, **options: Unpack[_options.EmbedTokensOptions]) -> FloatArray: ...
    @overload
    def embed_colbert(self, texts: Iterable[str], **options: Unpack[_options.EmbedTokensOptions]) -> list[FloatArray]: ...
    def embed_colbert(self, texts: Any, **options: Any) -> Any:
        """Returns a vector of norm 1 for each token of each text except the first token: float32 [tokens - 1, D].

        For BGE-M3. The score of a query q and a document d is ``(q @ d.T).max(axis=1).mean()`` (late interaction).
        Takes the options of ``embed_sparse``. Raises ConfigError for other models.
        """
        return self._embed_each("embed_colbert", texts, "ColBERT", options)

    async def aembed_sparse(self, texts: Any, **options: Any) -> Any:
        """Like ``embed_sparse``, but awaited. Texts of many tasks share batches."""
        return await self._aembed_each("aembed_sparse", texts, "sparse", options)

    async def aembed_tokens(self, texts: Any, **options: Any) -> Any:
        """Like ``embed_tokens``, but awaited. Texts of many tasks share batches."""
        return await self._aembed_each("aembed_tokens", texts, "token", options)

    async def aembed_colbert(self, texts: Any, **options: Any) -> Any:
        """Like ``embed_colbert``, but awaited. Texts of many tasks share batches."""
        return await self._aembed_each("aembed_colbert", texts, "ColBERT", options)

    def _embed_each(self, function: str, texts: Any, output: str, options: dict[str, Any]) -> Any:
        check_names(function, options, _options.EMBED_TOKENS)
        inputs, single = _inputs.as_list(texts, "texts")
        return _made(_engine.embed(self._core, inputs, {**options, "output": output}), single)

    async def _aembed_each(self, function: str, texts: Any, output: str, options: dict[str, Any]) -> Any:
        check_names(function, options, _options.EMBED_TOKENS)
        inputs, single = _inputs.as_list(texts, "texts")
        return _made(await self._gather_vectors(inputs, {**options, "output": output}), single)

    async def _gather_vectors(self, inputs: list[Any], options: Any) -> list[Any]:
        queue, core = self._queue, self._core

        def submit(inbox: _encdec.Inbox, number: int, indices: list[int]) -> _encdec.Request:
            return _engine.submit_embed(queue, inbox, number, core, [inputs[each] for each in indices], options)

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

        For models whose ``architectures`` in config.json end with ForSequenceClassification. Scores are the same
        as in transformers' pipelines. Options:

        - ``labels``: labels to choose from, for a natural language inference model (zero-shot classification).
          ``hypothesis_template`` is a sentence with ``{}`` in place of the label. With ``multi_label=True``, labels are
          scored independently, from 0 to 1.
        - ``max_length``, ``truncation``, ``long_texts="error"``: the handling of texts that are too long.
        - ``function_to_apply``: ``"none"``, ``"sigmoid"`` or ``"softmax"``, in place of the model's function.

        Raises ConfigError for other models.
        """
        return self._run(self._plan_classify("classify", texts, pairs, options))

    async def aclassify(self, texts: Any, pairs: Any = None, **options: Any) -> Any:
        """Like ``classify``, but awaited. Texts of many tasks share batches."""
        return await self._arun(self._plan_classify("aclassify", texts, pairs, options))

    def rerank(self, query: str, documents: Iterable[str], top_n: int | None = None, *, raw_scores: bool = False,
               **options: Unpack[_options.RerankOptions]) -> list[Ranking]:
        """Returns the documents with their relevance to the query, the best first; with ``top_n``, only the first ones.

        For models with one label (cross-encoders). The checkpoint defines whether scores are logits or from 0 to 1;
        with ``raw_scores`` they are logits. Documents with equal scores stay in order. Raises ConfigError for other
        models, and InputError if there are no documents.
        """
        check_names("rerank", options, _options.RERANK)
        plan = plans.rerank(self._classifier, self.path, query, documents, top_n, raw_scores, options)
        found: list[Ranking] = self._run(plan)
        return found

    async def arerank(self, query: str, documents: Iterable[str], top_n: int | None = None, *, raw_scores: bool = False,
                      **options: Unpack[_options.RerankOptions]) -> list[Ranking]:
        """Like ``rerank``, but awaited. Documents of many tasks share batches."""
        check_names("arerank", options, _options.RERANK)
        plan = plans.rerank(self._classifier, self.path, query, documents, top_n, raw_scores, options)
        found: list[Ranking] = await self._arun(plan)
        return found

    @overload
    def tag(  # type: ignore[overload-overlap]
        self, texts: str, **options: Unpack[_options.TagOptions]) -> list[Entity]: ...
    @overload
    def tag(self, texts: Iterable[str], **options: Unpack[_options.TagOptions]) -> list[list[Entity]]: ...
    def tag(self, texts: Any, **options: Any) -> Any:
        """Returns the entities of each text: names of persons, places and other kinds that the model was trained on.

        For models whose ``architectures`` in config.json end with ForTokenClassification. Options:

        - ``aggregation``: how tokens become entities, as in transformers: ``"none"``, ``"simple"``, ``"first"``,
          ``"average"`` or ``"max"``.
        - ``ignore_labels``: labels of entities to leave out, ``["O"]`` by default.
        - ``stride``: split a text that is too long into windows that overlap by this number of tokens; as in
          transformers, for all aggregations but ``"none"``.
        - ``max_length``, ``long_texts="error"``: the handling of texts that are too long.

        Raises ConfigError for other models.
        """
        check_names("tag", options, _options.TAG)
        inputs, single = _inputs.as_list(texts, "texts")
        found = [[Entity(**each) for each in entities] for entities in self._classifier.tag(inputs, options)]
        return found[0] if single else found

    async def atag(self, texts: Any, **options: Any) -> Any:
        """Like ``tag``, but awaited. Texts of many tasks share batches."""
        check_names("atag", options, _options.TAG)
        inputs, single = _inputs.as_list(texts, "texts")
        queue, classifier = self._queue, self._classifier

        def submit(inbox: _encdec.Inbox, number: int, indices: list[int]) -> _encdec.Request:
            return _engine.submit_tag(queue, inbox, number, classifier, [inputs[each] for each in indices], options)

        rows = await _requests.gather(submit, len(inputs), False)
        found = [[Entity(**each) for each in entities] for entities in rows]
        return found[0] if single else found

    def _plan_classify(self, function: str, texts: Any, pairs: Any, options: dict[str, Any]) -> plans.Plan:
        labels = options.pop("labels", None)
        template = options.pop("hypothesis_template", "This example is {}.")
        multi_label = options.pop("multi_label", False)
        check_names(function, options, _options.CLASSIFY)
        if labels is None:
            return plans.classify(self._classifier, texts, pairs, options)
        if pairs is not None:
            raise TypeError(f"{function}() got both 'pairs' and 'labels'")
        return plans.by_labels(self._classifier, texts, labels, template, multi_label, options)

    def _run(self, plan: plans.Plan) -> Any:
        return plan.finish(self._classifier.classify(plan.texts, plan.seconds, plan.options))

    async def _arun(self, plan: plans.Plan) -> Any:
        queue, classifier = self._queue, self._classifier

        def submit(inbox: _encdec.Inbox, number: int, indices: list[int]) -> _encdec.Request:
            seconds = None if plan.seconds is None else [plan.seconds[each] for each in indices]
            texts = [plan.texts[each] for each in indices]
            return _engine.submit_classify(queue, inbox, number, classifier, texts, seconds, plan.options)

        return plan.finish(await _requests.gather(submit, len(plan.texts), False))


def _made(rows: Iterable[Any], single: bool) -> Any:
    """Converts the fields of sparse vectors to objects. Returns a list, or the only element for a single text."""
    found = [SparseVector(**each) if isinstance(each, dict) else each for each in rows]
    return found[0] if single else found
