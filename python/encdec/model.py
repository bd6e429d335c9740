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
    """A loaded checkpoint. Threads, tasks and forked processes may use a model at the same time.

    - ``path``: the checkpoint folder, as its publisher ships it, or ``"OWNER/NAME"`` of the Hugging Face hub, from its
      local cache.
    - ``precision``: the precision of matrix products.
    - ``draft_precision``: ``"bfloat16"``, ``"int8"`` or ``"int4"``: a copy of the decoder in this lower precision guesses
      tokens, and the model checks several at once. Results without beams come faster and are the same.
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


_registry.model_class = Model


def open_model(path: str | os.PathLike[str], **options: Any) -> Model:
    """Returns a model with these options, which is loaded once per process. For functions that run on a cluster.

    >>> encdec.open_model(path) is encdec.open_model(path, precision="float32")
    True
    """
    model: Model = _registry.open_model(path, options)
    return model
