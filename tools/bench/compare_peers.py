#!/usr/bin/env python3
"""Compares the generation speed of encdec and other engines, with the same random model, sources and lengths.

  compare_peers.py --folder /tmp/peers                                      all cells, all installed engines
  compare_peers.py --folder /tmp/peers --cells 1x1x1 32x1x1 --precisions float32 --rounds 5
      --python onnxruntime=/opt/optimum/bin/python --python openvino=/opt/optimum/bin/python

A cell is BATCHxBEAMSxTHREADS with a precision. In each round every engine runs once, in a fresh process, in a rotated order. Its
time is the best of --repetitions generate calls, in milliseconds per step := time of the call / tokens generated per source. The
ratio is the peer's time / encdec's time, computed in each round, because the machine's speed drifts. Above 1, encdec is faster.

The first run makes the model, its conversions and the engines' exports in --folder, with peers/make_model.py, which needs torch,
transformers and ctranslate2 (--python model=PATH sets its Python). For how to install the engines, see peers/peer.py. Engines that
are not installed are skipped.

Columns:
  ratio, range   median and range of the ratios of all rounds
  of bests       best time of the peer / best time of encdec
  goal           target for the ratio of the best peer; reached if `ratio` and `of bests` are at least this large
  MB             maximum resident memory of the process
  MB load        the part of `MB` that was allocated after importing the engine's libraries
  tokens         share of generated tokens that equal encdec's float32 tokens at the same position
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path

from peers.make_model import END, UNKNOWN, add_size_options, size_arguments, sizes_of
from peers.turns import in_turns

TOOLS = Path(__file__).resolve().parent
REPOSITORY = TOOLS.parents[1]
# Precisions that each peer supports on CPUs.
PEERS = {
    "ctranslate2": ("float32", "int8"),
    "transformers": ("float32", "bfloat16"),
    "onnxruntime": ("float32",),
    "openvino": ("float32", "bfloat16"),
}
CELLS = ("1x1x1", "8x1x1", "32x1x1", "1x4x1", "1x1x2", "32x1x2")
# Target ratios of the best peer's time to encdec's, by precision and cell.
GOALS = {
    "float32": {"1x1x1": 1.25, "8x1x1": 1.6, "32x1x1": 1.3, "1x4x1": 1.6},
    "bfloat16": {"1x1x1": 1.9, "8x1x1": 2.0, "32x1x1": 1.7, "1x4x1": 2.0},
    "int8": {"1x1x1": 2.9, "8x1x1": 2.8, "32x1x1": 1.9, "1x4x1": 2.9},
}


class Failed(Exception):
    """A program ended with an exit status other than 0."""

    def __init__(self, command, result):
        lines = result.stderr.strip().splitlines() or ["no message"]
        super().__init__(f"{Path(command[0]).name} ended with {result.returncode}: {lines[-1]}")
        self.status = result.returncode


def run(command, environment):
    """Returns a program's standard output. Raises Failed if the program fails."""
    command = [str(argument) for argument in command]
    result = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True)
    if result.returncode != 0:
        raise Failed(command, result)
    return result.stdout


def run_for_json(command, environment):
    """Returns the JSON object on the last line of a program's standard output. Libraries can print other lines before it."""
    return json.loads(run(command, environment).splitlines()[-1])


class Cell:
    """Sizes to measure: BATCHxBEAMSxTHREADS."""

    def __init__(self, text):
        self.text = text
        self.batch, self.beams, self.threads = (int(part) for part in text.split("x"))
        if min(self.batch, self.beams, self.threads) < 1:
            raise ValueError(text)


class Encdec:
    """The encdec engine, run by its command."""

    name = "encdec"

    def __init__(self, options):
        self.program = options.encdec
        self.model = options.folder / "hf"
        self.options = options
        self.environment = {"ONEDNN_MAX_CPU_ISA": options.isa} if options.isa else {}

    def _arguments(self, cell, precision):
        arguments = ["--model", self.model, "--batch-size", cell.batch, "--num-beams", cell.beams]
        return arguments + ["--threads", cell.threads, "--precision", precision]

    def measure(self, cell, precision, sources):
        lengths = ["--source-length", self.options.source_length, "--target-length", self.options.target_length]
        command = [self.program, "bench", *self._arguments(cell, precision), *lengths]
        return run_for_json([*command, "--repetitions", self.options.repetitions], self.environment)

    def token_ids(self, cell, precision, sources):
        """Returns the ids that encdec generates. This run is not measured."""
        length = self.options.target_length
        command = [self.program, "generate", *self._arguments(cell, precision), "--token-ids", "--quiet"]
        command += ["--input", sources, "--min-new-tokens", length, "--max-new-tokens", length]
        lines = run(command, self.environment).splitlines()
        return [[int(token) for token in line.split()] for line in lines]


class Peer:
    """Another engine, run in its own Python."""

    def __init__(self, name, options):
        self.name = name
        self.options = options
        self.command = [options.python.get(name, sys.executable), TOOLS / "peers" / "peer.py", name, options.folder]
        self.environment = {}
        if options.isa:
            variables = ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "CT2_FORCE_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS")
            self.environment = {variable: options.isa for variable in variables}

    def prepare(self):
        """Exports the model for the engine, and returns the engine's version."""
        return run_for_json([*self.command, "--prepare"], self.environment)["version"]

    def measure(self, cell, precision, sources):
        command = [*self.command, "--sources", sources, "--precision", precision, "--num-beams", cell.beams]
        command += ["--threads", cell.threads, "--target-length", self.options.target_length]
        # Some libraries have no other setting for threads.
        threads = {"OMP_NUM_THREADS": str(cell.threads)}
        return run_for_json([*command, "--repetitions", self.options.repetitions], self.environment | threads)


def python_of(text):
    engine, _, path = text.partition("=")
    if engine not in ("model", *PEERS) or not path:
        raise argparse.ArgumentTypeError(f"'{text}', expected NAME=/path/to/python, NAME one of model, {', '.join(PEERS)}")
    return engine, path


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="folder for models, outside of the repository")
    parser.add_argument("--encdec", type=Path, default=REPOSITORY / "build/release/bin/encdec", metavar="PROGRAM")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--python", action="append", type=python_of, default=[], metavar="NAME=PATH")
    parser.add_argument("--cells", nargs="+", type=Cell, default=[Cell(cell) for cell in CELLS], metavar="BxKxT")
    parser.add_argument("--precisions", nargs="+", choices=GOALS, default=list(GOALS))
    parser.add_argument("--rounds", type=int, default=3, metavar="R")
    parser.add_argument("--repetitions", type=int, default=3, metavar="N", help="timed calls in each run")
    parser.add_argument("--source-length", type=int, default=32, metavar="N")
    parser.add_argument("--target-length", type=int, default=64, metavar="N")
    parser.add_argument("--isa", metavar="NAME", help="newest instruction set, such as AVX2, for engines that have this limit (not onnxruntime)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="file for every result")
    add_size_options(parser)
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    options.python = dict(options.python)
    if REPOSITORY in options.folder.parents:
        parser.error(f"{options.folder}: in the repository, expected a folder outside of it")
    return options


def make_model(options):
    python = options.python.get("model", options.python.get("ctranslate2", sys.executable))
    run([python, TOOLS / "peers" / "make_model.py", options.folder, *size_arguments(sizes_of(options))], {})


def write_sources(options, cell):
    """Writes a file of random sources, which are the same in every call. Returns its path."""
    values = random.Random(1)
    path = options.folder / f"sources-{cell.batch}x{options.source_length}.txt"
    with path.open("w", encoding="ascii") as file:
        for _ in range(cell.batch):
            # Exclude the last id, which is padding.
            ids = [values.randrange(UNKNOWN + 1, options.vocabulary - 1) for _ in range(options.source_length - 1)]
            print(*ids, END, file=file)
    return path


def installed_peers(options):
    peers = []
    for name in options.peers:
        peer = Peer(name, options)
        try:
            print(f"{name} {peer.prepare()}", file=sys.stderr)
            peers.append(peer)
        except Failed as failure:
            print(f"{name}: skipped: {failure}", file=sys.stderr)
    return peers


def equal_share(ids, expected):
    """Returns the share of positions with equal ids."""
    pairs = [(a, b) for row, other in zip(ids, expected, strict=True) for a, b in zip(row, other)]
    return sum(a == b for a, b in pairs) / max(1, sum(len(row) for row in expected))


def measure_cell(cell, precision, engines, options):
    """Returns {engine: [result of each round]}, without engines that failed."""
    sources = write_sources(options, cell)
    results = {engine.name: [] for engine in engines}
    failed = set()
    for engine in in_turns(engines, options.rounds):
        if engine.name in failed:
            continue
        try:
            results[engine.name].append(engine.measure(cell, precision, sources))
        except Failed as failure:
            failed.add(engine.name)
            print(f"{engine.name}, {precision} {cell.text}: skipped: {failure}", file=sys.stderr)
            if engine.name == Encdec.name:
                return {}
    return {name: rounds for name, rounds in results.items() if name not in failed}


def agreements(cell, precision, encdec, results, options):
    """Returns {engine: share of tokens that equal encdec's float32 tokens}."""
    sources = write_sources(options, cell)
    try:
        expected = encdec.token_ids(cell, "float32", sources)
        own = encdec.token_ids(cell, precision, sources)
    except Failed as failure:
        print(f"encdec generate, {precision} {cell.text}: {failure}", file=sys.stderr)
        return {}
    shares = {Encdec.name: equal_share(own, expected)}
    for name, rounds in results.items():
        if name != Encdec.name:
            shares[name] = equal_share(rounds[-1].pop("token_ids"), expected)
            for result in rounds:
                result.pop("token_ids", None)
    return shares


def summaries(cell, precision, results, shares):
    """Returns a row of the table for each engine, encdec first."""
    steps = {name: [result["step_milliseconds"] for result in rounds] for name, rounds in results.items()}
    goal = GOALS[precision].get(cell.text)
    rows = []
    for name, rounds in results.items():
        row = {"precision": precision, "cell": cell.text, "engine": name, "step_milliseconds": min(steps[name])}
        row["peak_resident_bytes"] = max(result["peak_resident_bytes"] for result in rounds)
        row["library_bytes"] = max(result.get("library_bytes", 0) for result in rounds)
        row["agreement"] = shares.get(name)
        if name != Encdec.name:
            ratios = [theirs / ours for theirs, ours in zip(steps[name], steps[Encdec.name], strict=True)]
            row["ratios"] = ratios
            row["ratio"] = statistics.median(ratios)
            row["ratio_of_bests"] = min(steps[name]) / min(steps[Encdec.name])
        rows.append(row)
    peers = [row for row in rows if "ratio" in row]
    if goal is not None and peers:
        min(peers, key=lambda row: row["step_milliseconds"])["goal"] = goal
    return rows


def table_lines(rows):
    """Yields the lines of a Markdown table."""
    titles = ("precision", "batch x beams x threads", "engine", "ms per step", "ratio", "range", "of bests", "goal", "MB", "MB load", "tokens")
    yield "| " + " | ".join(titles) + " |"
    yield "|---|---|---|" + "---:|" * 8
    for row in rows:
        ratio, spread, of_bests, goal, agreement = "1", "", "1", "", ""
        if "ratio" in row:
            ratio = f"{row['ratio']:.2f}"
            spread = f"{min(row['ratios']):.2f} - {max(row['ratios']):.2f}"
            of_bests = f"{row['ratio_of_bests']:.2f}"
        if "goal" in row:
            is_reached = min(row["ratio"], row["ratio_of_bests"]) >= row["goal"]
            goal = f"{row['goal']} {'reached' if is_reached else 'missed'}"
        if row["agreement"] is not None:
            agreement = f"{row['agreement'] * 100:.1f} %"
        memory = [f"{size / 1e6:.0f}" for size in (row["peak_resident_bytes"], row["peak_resident_bytes"] - row["library_bytes"])]
        cells = [row["precision"], row["cell"], row["engine"], f"{row['step_milliseconds']:.2f}", ratio, spread, of_bests, goal]
        yield "| " + " | ".join([*cells, *memory, agreement]) + " |"


def main():
    options = parse_options()
    make_model(options)
    encdec = Encdec(options)
    peers = installed_peers(options)
    rows, raw = [], []
    for precision in options.precisions:
        engines = [encdec, *(peer for peer in peers if precision in PEERS[peer.name])]
        for cell in options.cells:
            results = measure_cell(cell, precision, engines, options)
            if not results:
                continue
            shares = agreements(cell, precision, encdec, results, options)
            raw.append({"precision": precision, "cell": cell.text, "rounds": results})
            rows += summaries(cell, precision, results, shares)
            print(f"{precision} {cell.text} done", file=sys.stderr)
            if options.json:
                options.json.write_text(json.dumps({"rows": rows, "results": raw}, indent=1) + "\n", encoding="ascii")
    print(*table_lines(rows), sep="\n")


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(f"compare_peers.py: {error}")
