#!/usr/bin/env python3
"""Makes a model's confidence.json: what the mean log-probability of a result's tokens says about its quality.

    tools/calibrate_confidence.py --model opus-mt-en-fr --source held_out.en --target held_out.fr

The sources are texts that the model was not trained on, one a line; a line of the targets has their right translation, or several,
separated by tabs. The model translates each source, and the quality of the result is
  chrf    the F-score of character n-grams, 1 to 6, with recall counting twice (Popovic 2015), of the closest target: the default
  exact   1 if the result is one of the targets, else 0
Quality is then made a rising function of the mean log-probability, by isotonic regression, and written with --points points. The
script prints how well that holds on the half of the texts that the regression did not see.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

ORDERS, BETA = 6, 2


def chrf(result, target):
    result, target = result.replace(" ", ""), target.replace(" ", "")
    scores = []
    for n in range(1, ORDERS + 1):
        found, wanted = (Counter(text[i : i + n] for i in range(len(text) - n + 1)) for text in (result, target))
        if not wanted or not found:
            continue
        both = sum((found & wanted).values())
        precision, recall = both / sum(found.values()), both / sum(wanted.values())
        scores.append((1 + BETA**2) * precision * recall / (BETA**2 * precision + recall) if both else 0.0)
    return sum(scores) / len(scores) if scores else float(result == target)


def exact(result, target):
    return float(result == target)


def generate(command, model, sources, options):
    run = subprocess.run([command, "generate", "--model", model, "--json", "--token-scores", "--quiet", *options],
                         input="\n".join(sources) + "\n", text=True, capture_output=True, check=False)
    if run.returncode != 0:
        sys.exit(run.stderr.strip())
    return [json.loads(line)["hypotheses"][0] for line in run.stdout.splitlines()]


def isotonic(pairs):
    """Returns blocks (weight, mean x, mean y) with ascending y: pool adjacent violators (Barlow et al. 1972)."""
    blocks = []
    for x, y in sorted(pairs):
        blocks.append([1, x, y])
        while len(blocks) > 1 and blocks[-2][2] >= blocks[-1][2]:
            weight, last_x, last_y = blocks.pop()
            total = blocks[-1][0] + weight
            blocks[-1] = [total, *((a * blocks[-1][0] + b * weight) / total for a, b in zip(blocks[-1][1:], (last_x, last_y)))]
    return blocks


def table(pairs, points):
    """Returns at most `points` pairs (mean log-probability, quality), each of about as many results."""
    pairs = sorted(pairs)
    size = max(1, -(-len(pairs) // points))
    means = [tuple(sum(values) / len(part) for values in zip(*part)) for part in
             (pairs[i : i + size] for i in range(0, len(pairs), size))]
    return [(x, y) for _, x, y in isotonic(means)]


def look_up(points, x):
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if x0 <= x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return points[0][1] if x < points[0][0] else points[-1][1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="folder of the model, which gets confidence.json")
    parser.add_argument("--source", required=True, help="held-out texts, one a line")
    parser.add_argument("--target", required=True, help="their right translations, separated by tabs")
    parser.add_argument("--measure", choices=["chrf", "exact"], default="chrf")
    parser.add_argument("--points", type=int, default=20)
    parser.add_argument("--encdec", default="encdec", help="the command")
    arguments, options = parser.parse_known_args()
    sources = Path(arguments.source).read_text(encoding="utf-8").splitlines()
    targets = Path(arguments.target).read_text(encoding="utf-8").splitlines()
    if len(sources) != len(targets) or len(sources) < 2 * arguments.points:
        sys.exit(f"{len(sources)} sources and {len(targets)} targets, expected as many, and at least {2 * arguments.points}")
    measure = {"chrf": chrf, "exact": exact}[arguments.measure]
    pairs = []
    for result, target in zip(generate(arguments.encdec, arguments.model, sources, options), targets):
        if result["token_scores"]:
            mean = sum(result["token_scores"]) / len(result["token_scores"])
            pairs.append((mean, max(measure(result["text"], one) for one in target.split("\t"))))
    half = table(pairs[::2], arguments.points)
    tested = [(look_up(half, x), y) for x, y in pairs[1::2]]
    error = sum(abs(a - b) * n for n, a, b in groups_of(tested)) / len(tested)
    points = table(pairs, arguments.points)
    content = {"mean_log_probability": [round(x, 4) for x, _ in points], "confidence": [round(y, 4) for _, y in points],
               "measure": arguments.measure, "texts": len(pairs)}
    (Path(arguments.model) / "confidence.json").write_text(json.dumps(content) + "\n")
    print(f"{len(pairs)} texts, mean {arguments.measure} {sum(y for _, y in pairs) / len(pairs):.3f}; on the unseen half, the mean "
          f"quality of texts with similar confidence differs from that confidence by {error:.3f} on average")


def groups_of(tested, groups=10):
    """Yields (number, mean confidence, mean quality) of groups of texts with similar confidence."""
    tested = sorted(tested)
    size = -(-len(tested) // groups)
    for i in range(0, len(tested), size):
        part = tested[i : i + size]
        yield len(part), sum(a for a, _ in part) / len(part), sum(b for _, b in part) / len(part)


if __name__ == "__main__":
    main()
