#!/usr/bin/env python3
"""Makes the golden values of single layers: the results of PyTorch for small random inputs and weights.

    pip install -r requirements.txt
    python make_layers.py                     # every layer
    python make_layers.py dense_attention     # only this layer

The cases of each module maker/layers/NAME.py become layers/NAME.safetensors, which README.md describes. A second run writes the
same bytes.
"""

import argparse
import importlib
import pkgutil
from pathlib import Path

from safetensors.torch import save_file

import maker.layers

FOLDER = Path(__file__).parent / "layers"


def main():
    names = sorted(module.name for module in pkgutil.iter_modules(maker.layers.__path__) if module.name != "case")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layers", nargs="*", metavar="LAYER", help=f"of {', '.join(names)}")
    chosen = parser.parse_args().layers or names
    for name in chosen:
        if name not in names:
            parser.error(f"layer {name}, expected one of {', '.join(names)}")
        tensors = {}
        for case in importlib.import_module(f"maker.layers.{name}").cases():
            tensors.update(case.tensors())
        FOLDER.mkdir(exist_ok=True)
        save_file(tensors, FOLDER / f"{name}.safetensors")
        print(f"{name}: {len(tensors)} tensors")


if __name__ == "__main__":
    main()
