#!/usr/bin/env python3
"""Makes the golden values of single layers: the results of PyTorch for small random inputs and weights.

    pip install -r requirements.txt
    python make_layers.py               # every layer
    python make_layers.py positions     # only this layer

The cases of each module maker/layers/NAME.py become layers/NAME.safetensors, which README.md describes. A second run writes the
same bytes.
"""

import argparse
import importlib
import pkgutil
from pathlib import Path

from safetensors.torch import save_file

import maker.layers


def make(package, folder, description):
    """Makes folder/NAME.safetensors of each module NAME of `package`, or of those that the command line names."""
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__) if module.name != "case")
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layers", nargs="*", metavar="LAYER", help=f"of {', '.join(names)}")
    chosen = parser.parse_args().layers or names
    for name in chosen:
        if name not in names:
            parser.error(f"layer {name}, expected one of {', '.join(names)}")
        tensors = {}
        for case in importlib.import_module(f"{package.__name__}.{name}").cases():
            tensors.update(case.tensors())
        folder.mkdir(exist_ok=True)
        save_file(tensors, folder / f"{name}.safetensors")
        print(f"{name}: {len(tensors)} tensors")


if __name__ == "__main__":
    make(maker.layers, Path(__file__).parent / "layers", __doc__)
