"""The class Model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _base, _registry, _slices

if TYPE_CHECKING:
    from .encoders import methods as encoders
    from .speech import methods as speech

    class _Methods(encoders.Model, speech.Model): ...

else:
    _Methods = type("_Methods", (*_slices.METHODS, _base.Model), {})


class Model(_Methods):
    """A loaded checkpoint. Threads, tasks and forked processes may share a model.

    - ``path``: the checkpoint folder, as its publisher ships it, or ``"OWNER/NAME"`` on the Hugging Face hub, from the
      local cache.
    - ``precision``: the precision of matrix products.
    - ``draft_precision``: ``"bfloat16"``, ``"int8"`` or ``"int4"``: use a copy of the decoder in this lower precision
      as draft model (speculative decoding). Search without beams is faster; results never change.
    - ``assistant_model``: the folder of a smaller checkpoint with the same vocabulary, to use as draft model instead.
    - ``backend``: the kernels of matrix products: ``"onednn"``, ``"encdec"`` (this package's own), or ``"auto"``, the
      faster of the two. None: ENCDEC_BACKEND, else ``"auto"``.
    - ``workers``: the number of batches that are decoded in parallel.
    - ``threads``: the number of threads of each worker. None: ENCDEC_THREADS, else OMP_NUM_THREADS, else the number of
      CPUs; this number is divided by ``workers``.
    - ``weights_cache``: a folder for packed weights, which makes later loads fast. None: ENCDEC_WEIGHTS_CACHE, else no
      cache.
    - ``lazy``: load the checkpoint at the first use.

    A source's result does not depend on the number of threads or on other sources, except with ``backend="onednn"`` on
    some CPUs, which ``notes`` reports. A pickle has the path, the hash of the weights, and the options except
    ``weights_cache``.

    Raises FileError, ConfigError, WeightError or TokenizerError. The message names the file and the problem.

    >>> model = encdec.Model(path)
    >>> model.translate("attention")
    'AH0 T EH1 N SH AH0 N'
    """


_registry.model_class = Model


def open_model(path: str | os.PathLike[str], **options: Any) -> Model:
    """Returns a model, loaded once per process and set of options. For functions that run on a cluster.

    >>> encdec.open_model(path) is encdec.open_model(path, precision="float32")
    True
    """
    model: Model = _registry.open_model(path, options)
    return model
