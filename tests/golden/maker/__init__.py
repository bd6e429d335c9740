"""Makes the golden checkpoints; see ../README.md. Import it before libraries that read HF_HUB_OFFLINE."""

import json
import logging
import os
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"


def prepare():
    """Makes results independent of the number of processors, and libraries silent."""
    import torch
    import transformers

    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()


def write_json(path, value, indent=2, **options):
    path.write_text(json.dumps(value, indent=indent, **options) + "\n", encoding="utf-8")
