"""Results for any iterable of sources, also an endless one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from . import _encdec
from ._lifetime import close_at_exit
from .results import GenerateResult, make_result

if TYPE_CHECKING:
    from ._inputs import Source

_AHEAD = 256  # sources read ahead, for each worker


def iterate(
    core: _encdec.Model, tokenizer: _encdec.Tokenizer | None, sources: Iterable[Source], null: bool, options: Any
) -> Iterator[GenerateResult | None]:
    """Yields the results in order. Iterates over the sources in the caller's thread, a limited number ahead."""
    ahead = (4 * options["batch_size"] if options.get("batch_size") else _AHEAD) * (options.get("workers") or 1)
    job = _encdec.GenerateJob(core, options, null, max(1, ahead))
    close_at_exit(job)
    try:
        iterator = enumerate(sources, 1)
        while (event := job.wait()) is not False:
            if isinstance(event, tuple):
                yield event[0] and make_result(event[0], tokenizer)
                continue
            try:
                number, source = next(iterator)
            except StopIteration:
                job.finish()
            else:
                job.add(source, None, number, null)
    finally:
        job.close()
