#!/usr/bin/env python3
"""Makes layers/: golden values of the lessons' layers, the results of PyTorch for small random inputs and weights.

    pip install -r ../../../../tests/golden/requirements.txt
    python make_lessons.py                     # every layer
    python make_lessons.py dense_attention     # only this layer

The cases of each module cases/NAME.py become layers/NAME.safetensors: `CASE/input/X`, `CASE/weight/X` named as the layer
asks for them, and `CASE/output/X`. Values are float32, lengths and ids int32. Outputs are computed in float64 from the
stored values, so all digits that are stored are right. A second run writes the same bytes.
"""

import argparse
import importlib
import pkgutil
import sys
from pathlib import Path

from safetensors.torch import save_file

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parents[3] / "tests/golden"))

import cases  # noqa: E402: in this folder; its own imports are in tests/golden


def main():
    names = sorted(module.name for module in pkgutil.iter_modules(cases.__path__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layers", nargs="*", metavar="LAYER", help=f"of {', '.join(names)}")
    chosen = parser.parse_args().layers or names
    for name in chosen:
        if name not in names:
            parser.error(f"layer {name}, expected one of {', '.join(names)}")
        tensors = {}
        for case in importlib.import_module(f"cases.{name}").cases():
            tensors.update(case.tensors())
        (FOLDER / "layers").mkdir(exist_ok=True)
        save_file(tensors, FOLDER / "layers" / f"{name}.safetensors")
        print(f"{name}: {len(tensors)} tensors")


if __name__ == "__main__":
    main()
