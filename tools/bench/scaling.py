#!/usr/bin/env python3
"""Measures how encdec's cost grows with each size of the work: milliseconds per generated token of a random model.

  scaling.py --folder /tmp/scaling --output scaling.md
  scaling.py --folder /tmp/scaling --vary batch=1,8,64 vocabulary=8000,250000 --precision int8 --threads 2

Varies one size at a time. The base values are batch 1, sources of 32 tokens, 64 generated tokens, 1 beam, a vocabulary of 32,000
tokens, and the sizes of Transformer-base. Each point is a run of `encdec bench`. Every round runs all points. The best run of a point
counts, because other work on the machine can only slow down a run. Each source has one result, regardless of the number of beams, so
the time of a step is ms per token x batch.

Writes the table to standard output or to --output FILE.md. With --output and matplotlib, also writes a plot to FILE.svg. The first run
makes a model for each vocabulary in --folder (with peers/make_model.py, which needs torch and transformers).
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from peers.make_model import POSITIONS, SIZES

TOOLS = Path(__file__).resolve().parent
REPOSITORY = TOOLS.parents[1]
BASE = {"batch": 1, "source": 32, "target": 64, "beams": 1, "vocabulary": SIZES["vocabulary"]}
VALUES = {
    "batch": (1, 2, 4, 8, 16, 32, 64, 128, 256),
    "source": (8, 16, 32, 64, 128, 256, 512),
    "target": (8, 16, 32, 64, 128, 256, 512),
    "beams": (1, 2, 4, 8, 16),
    "vocabulary": (8_000, 16_000, 32_000, 64_000, 128_000, 250_000),
}


def run(command):
    """Returns a program's standard output. If the program fails, exits with the last line of its standard error."""
    result = subprocess.run([str(argument) for argument in command], capture_output=True, text=True)
    if result.returncode != 0:
        last = (result.stderr.strip().splitlines() or ["no message"])[-1]
        sys.exit(f"scaling.py: {Path(command[0]).name} ended with {result.returncode}: {last}")
    return result.stdout


def model_of(vocabulary, options):
    folder = options.folder / f"vocabulary-{vocabulary}"
    command = [options.python, TOOLS / "peers" / "make_model.py", folder, "--vocabulary", vocabulary, "--formats", "hf"]
    if not (folder / "hf").exists():
        run(command)
    return folder / "hf"


def measure(point, options):
    """Returns the results of `encdec bench` for one set of sizes."""
    command = [options.encdec, "bench", "--model", model_of(point["vocabulary"], options), "--precision", options.precision]
    command += ["--threads", options.threads, "--repetitions", options.repetitions, "--batch-size", point["batch"]]
    command += ["--source-length", point["source"], "--target-length", point["target"], "--num-beams", point["beams"]]
    return json.loads(run(command))


def varied(text):
    name, _, values = text.partition("=")
    try:
        numbers = [int(value) for value in values.split(",")] if values else VALUES[name]
        if name not in VALUES or min(numbers) < 1 or (name in ("source", "target") and max(numbers) > POSITIONS):
            raise ValueError(text)
    except (KeyError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"'{text}', expected NAME or NAME=N,N,... with one of {', '.join(VALUES)}") from error
    return name, numbers


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="folder for models, outside of the repository")
    parser.add_argument("--encdec", type=Path, default=REPOSITORY / "build/release/bin/encdec", metavar="PROGRAM")
    parser.add_argument("--python", default=sys.executable, metavar="PROGRAM", help="Python that makes the models")
    parser.add_argument("--vary", nargs="+", type=varied, default=list(VALUES.items()), metavar="NAME[=N,N,...]")
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--threads", type=int, default=1, metavar="N")
    parser.add_argument("--rounds", type=int, default=2, metavar="R", help="runs of each point; the best counts")
    parser.add_argument("--repetitions", type=int, default=3, metavar="N")
    parser.add_argument("--output", type=Path, metavar="FILE.md")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    if REPOSITORY in options.folder.parents:
        parser.error(f"{options.folder}: in the repository, expected a folder outside of it")
    if options.output and options.output.suffix != ".md":
        parser.error(f"{options.output}: expected a name that ends in .md")
    return options


def measure_all(options):
    """Returns a list of rows for each varied size: a row per value, with the best run of all rounds."""
    best = {}
    for number in range(options.rounds):
        for name, values in options.vary:
            for value in values:
                figures = measure(BASE | {name: value}, options)
                other = best.get((name, value), figures)
                best[name, value] = min(figures, other, key=lambda each: each["step_milliseconds"])
                print(f"round {number + 1}, {name} {value}: {figures['step_milliseconds']:.2f} ms per step", file=sys.stderr)
    return [[row_of(name, value, best[name, value]) for value in values] for name, values in options.vary]


def row_of(name, value, figures):
    step = figures["step_milliseconds"]
    batch = value if name == "batch" else BASE["batch"]
    row = {"name": name, "value": value, "token_milliseconds": step / batch, "step_milliseconds": step}
    return row | {"gflops": figures["gflops"], "peak_megabytes": figures["peak_resident_bytes"] / 1e6}


def table_lines(all_rows):
    """Yields the lines of a Markdown table. `against first` is the cost per token / the cost per token of the first value."""
    yield "| varied | value | ms per token | against first | ms per step | GFLOP/s | peak MB |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for rows in all_rows:
        for row in rows:
            cost = row["token_milliseconds"]
            cells = [row["name"], f"{row['value']:,}", f"{cost:.3f}", f"{cost / rows[0]['token_milliseconds']:.2f}"]
            cells += [f"{row['step_milliseconds']:.2f}", f"{row['gflops']:.1f}", f"{row['peak_megabytes']:.0f}"]
            yield "| " + " | ".join(cells) + " |"


def plot(all_rows, path):
    """Draws one panel for each varied size, with a common vertical axis."""
    try:
        import matplotlib
    except ImportError:
        print("scaling.py: no plot: matplotlib is not installed", file=sys.stderr)
        return
    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(all_rows), figsize=(3 * len(all_rows), 3), sharey=True, squeeze=False)
    for panel, rows in zip(panels[0], all_rows):
        panel.plot([row["value"] for row in rows], [row["token_milliseconds"] for row in rows], marker="o")
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        panel.yaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_formatter("{x:g}")
        panel.set_xlabel(rows[0]["name"])
        panel.set_xticks([row["value"] for row in rows], [str(row["value"]) for row in rows], rotation=60)
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("ms per generated token")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main():
    options = parse_options()
    all_rows = measure_all(options)
    text = "\n".join(table_lines(all_rows)) + "\n"
    if options.output is None:
        print(text, end="")
        return
    options.output.write_text(text, encoding="ascii")
    plot(all_rows, options.output.with_suffix(".svg"))


if __name__ == "__main__":
    main()
