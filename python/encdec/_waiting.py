"""The methods of Model that submit sources to a request queue: streaming and asyncio."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from . import _encdec, _inputs, _options, _registry, _requests
from ._errors import TokenizerError
from ._lifetime import close_at_exit
from ._loaded import Loaded
from .results import GenerateResult, make_result

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._inputs import Source
    from .results import FloatArray


class Waiting(Loaded):
    """The part of Model in which requests of several callers share batches."""

    _queue_here: _encdec.RequestQueue | None = None

    @property
    def _queue(self) -> _encdec.RequestQueue:
        if self._queue_here is None:
            core = self._core
            with _registry.lock():
                if self._queue_here is None:
                    self._queue_here = _encdec.RequestQueue(core, self._settings["workers"])
                    close_at_exit(self._queue_here)
        return self._queue_here

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
        prefixes = _inputs.as_prefixes(prefix, len(inputs), single)
        submit = self._submit(inputs, prefixes, options, null=null)
        results = await _requests.gather(submit, len(inputs), null)
        return [each and make_result(each, self._tokenizer) for each in results]

    async def aembed(self, texts: str | Iterable[str], **options: Unpack[_options.EmbedOptions]) -> FloatArray:
        """Returns the same as ``embed``, but is awaited. Texts of many tasks share batches."""
        import numpy

        _options.check_names("aembed", options, _options.EMBED)
        inputs, single = _inputs.as_list(texts, "texts")
        if not inputs:
            return self._core.embed([], options)
        queue = self._queue

        def submit(inbox: _encdec.Inbox, number: int, indices: list[int]) -> _encdec.Request:
            return queue.submit_texts(inbox, number, [inputs[each] for each in indices], options)

        vectors: list[FloatArray] = await _requests.gather(submit, len(inputs), False)
        return vectors[0] if single else numpy.stack(vectors)

    def _stream(
        self, function: str, source: Any, prefix: Any, options: Any
    ) -> tuple[_requests.Submit, _encdec.Tokenizer]:
        _options.check_names(function, options, _options.GENERATE)
        _inputs.check_single(source)
        if self._tokenizer is None:
            raise TokenizerError(f"{self._path}: no tokenizer files, which streaming text needs")
        options = {**options, "num_return_sequences": options.get("num_return_sequences") or 1}
        return self._submit([source], None if prefix is None else [prefix], options, with_tokens=True), self._tokenizer

    def _submit(
        self,
        inputs: list[Any],
        prefixes: list[Any] | None,
        options: Any,
        *,
        with_tokens: bool = False,
        null: bool = False,
    ) -> _requests.Submit:
        queue = self._queue

        def submit(inbox: _encdec.Inbox, number: int, indices: list[int]) -> _encdec.Request:
            chosen = None if prefixes is None else [prefixes[each] for each in indices]
            return queue.submit(inbox, number, [inputs[each] for each in indices], chosen, options, with_tokens, null)

        return submit
