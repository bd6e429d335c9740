#!/usr/bin/env python3
"""Compares encdec's backends on a model: its own kernels, oneDNN, and `auto`, which selects the faster one by the number of rows.

  compare_backends.py --model /tmp/peers/hf                                 all cells and precisions; compare_peers.py makes this model
  compare_backends.py --model opus-mt-en-fr --cells 1x1x1 32x1x1 --precisions int8 --rounds 5

A cell is BATCHxBEAMSxTHREADS. In each round every backend runs once, in a fresh process, in a rotated order. The ratios are medians
over the rounds, because the machine's speed drifts. Columns, first for decoding steps, then for encoding all sources:

  ms               time of encdec's own kernels. Time of a step := time of the call / tokens generated per source
  onednn           time of oneDNN / time of encdec's kernels; above 1, encdec's kernels are faster
  auto             time of auto / time of the faster of the other two
"""

import argparse
import statistics
import sys
from pathlib import Path

from compare_peers import REPOSITORY, Cell, Failed, run_for_json
from peers.turns import in_turns

BACKENDS = ["encdec", "onednn", "auto"]
CELLS = ("1x1x1", "4x1x1", "8x1x1", "16x1x1", "32x1x1", "128x1x1", "1x4x1", "8x4x1", "1x1x2", "8x1x2", "32x1x2")
FIGURES = ("step_milliseconds", "encode_milliseconds")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, metavar="DIR")
    parser.add_argument("--encdec", type=Path, default=REPOSITORY / "build/release/bin/encdec", metavar="PROGRAM")
    parser.add_argument("--cells", nargs="+", type=Cell, default=[Cell(cell) for cell in CELLS], metavar="BxKxT")
    parser.add_argument("--precisions", nargs="+", default=["float32", "bfloat16", "int8"])
    parser.add_argument("--rounds", type=int, default=3, metavar="R")
    parser.add_argument("--repetitions", type=int, default=3, metavar="N", help="timed calls in each run")
    parser.add_argument("--source-length", type=int, default=32, metavar="N")
    parser.add_argument("--target-length", type=int, default=32, metavar="N")
    parser.add_argument("--isa", metavar="NAME", help="newest instruction set, such as AVX2")
    return parser.parse_args()


def measure(backend, precision, cell, options):
    command = [options.encdec, "bench", "--model", options.model, "--backend", backend, "--precision", precision]
    command += ["--batch-size", cell.batch, "--num-beams", cell.beams, "--threads", cell.threads]
    command += ["--source-length", options.source_length, "--target-length", options.target_length]
    command += ["--repetitions", options.repetitions]
    return run_for_json(command, {"ONEDNN_MAX_CPU_ISA": options.isa} if options.isa else {})


def row(precision, cell, options):
    results = {backend: [] for backend in BACKENDS}
    for backend in in_turns(BACKENDS, options.rounds):
        results[backend].append(measure(backend, precision, cell, options))
    columns = [precision, cell.text]
    for figure in FIGURES:
        times = list(zip(*([result[figure] for result in results[backend]] for backend in BACKENDS), strict=True))
        columns.append(f"{min(encdec for encdec, _, _ in times):.2f}")
        columns.append(f"{statistics.median(onednn / encdec for encdec, onednn, _ in times):.2f}")
        columns.append(f"{statistics.median(auto / min(encdec, onednn) for encdec, onednn, auto in times):.2f}")
    return "| " + " | ".join(columns) + " |"


def main():
    options = parse_options()
    print("| precision | batch x beams x threads | ms per step | onednn | auto | ms to encode | onednn | auto |")
    print("|---|---|" + "---:|" * 6)
    for precision in options.precisions:
        for cell in options.cells:
            print(row(precision, cell, options), flush=True)


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(f"compare_backends.py: {error}")
