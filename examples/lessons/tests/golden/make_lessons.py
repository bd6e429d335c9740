#!/usr/bin/env python3
"""Makes layers/: golden values of the lessons' layers, as tests/golden/make_layers.py does for those of encdec.

    pip install -r ../../../../tests/golden/requirements.txt
    python make_lessons.py                     # every layer
    python make_lessons.py dense_attention     # only this layer
"""

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parents[3] / "tests/golden"))

import cases  # noqa: E402: in this folder; its own imports are in tests/golden
from make_layers import make  # noqa: E402

if __name__ == "__main__":
    make(cases, FOLDER / "layers", __doc__)
