#!/usr/bin/env python3
"""Makes FAMILY/CASE/generation.json: the results of transformers' generation with golden checkpoints and many options.

Needs the checkpoints of make_golden.py, which deletes old results together with the checkpoints. Each row is generated alone.
A row is rejected if two scores that decide something are close together. A case is left out if one of its options has no effect.
"""

import argparse
import json
from pathlib import Path

import maker
import numpy as np
import torch
from transformers import GenerationConfig

from maker.case import DECODER_ONLY
from maker.generation import end_ids_of, generate_alone
from maker.generation_cases import CHECKPOINTS, Common, cases_of
from maker.publish import load
from maker.random_checkpoint import ordinary_ids
from maker.table import FAMILIES

MARGIN = 1e-4
LONGEST_SOURCE = 10
MOST_DRAWS = 300
# Other values of an option, which must change the results. An option without an entry is instead left at the checkpoint's value.
ALTERNATIVES = {"early_stopping": [False, True, "never"]}
NOT_TRIED = ("num_return_sequences",)


class Checkpoint:
    def __init__(self, name, folder):
        family, case = name.split("/")
        self.case = next(c for c in FAMILIES[family] if c.name == case)
        self.family = self.case.family
        self.model = load(self.case, folder / "model")
        self.settings = json.loads((folder / "model" / "generation_config.json").read_text())
        # M2M100's cache counts the positions of generated pad ids wrongly.
        self.banned = {self.model.config.pad_token_id} if family == "m2m_100" else set()

    def generate(self, row, options, settings):
        changed = {key: value for key, value in (self.settings | settings).items() if value is not None}
        self.model.generation_config = GenerationConfig.from_dict(changed)
        return generate_alone(self.family, self.model, row["source"], row["prefix"], options)

    def draw_row(self, prefix_length, random):
        config = self.model.config
        low, high = ordinary_ids(self.case, config)
        source = random.integers(low, high, random.integers(1, LONGEST_SOURCE + 1)).tolist()
        if self.family.kind == DECODER_ONLY:
            return {"source": source, "prefix": []}
        if len(source) > 1:
            source[-1] = config.eos_token_id
        high = min(high, self.model.get_output_embeddings().out_features)
        return {"source": source, "prefix": random.integers(low, high, prefix_length).tolist()}

    def common(self, random):
        ends = end_ids_of(self.model)
        options = {"num_beams": 3, "num_return_sequences": 3, "max_new_tokens": 16}
        texts = []
        for _ in range(24):
            for hypothesis in self.generate(self.draw_row(0, random), options, {}).hypotheses:
                texts.append(hypothesis["token_ids"])
        return Common(texts, ends | {self.model.config.pad_token_id} | self.banned), sorted(ends)


def alternatives(case):
    """Returns changed (options, settings) by name. Each must change the results of at least one row of the case."""
    found = {}
    for key, value in case.options.items():
        if key in NOT_TRIED or key in case.may_not_matter:
            continue
        rest = {k: v for k, v in case.options.items() if k != key}
        if key == "num_beams":
            found[f"{key} + 1"] = (case.options | {key: value + 1}, case.settings)
        for other in ALTERNATIVES.get(key, []):
            if other != value:
                found[f"{key} {other}"] = (case.options | {key: other}, case.settings)
        if key not in ALTERNATIVES and key != "num_beams":
            found[key] = (rest, case.settings)
    for key in case.settings:
        if key not in case.may_not_matter:
            found[f"file's {key}"] = (case.options, {k: v for k, v in case.settings.items() if k != key})
    return found


def find_rows(checkpoint, case, random):
    """Returns rows with results. Raises AssertionError if an option changes none of them."""
    rows, pending = [], alternatives(case)
    for draw in range(MOST_DRAWS):
        row = checkpoint.draw_row(case.prefix_lengths[len(rows) % len(case.prefix_lengths)], random)
        made = checkpoint.generate(row, case.options, case.settings)
        if made.margin < MARGIN or checkpoint.banned & made.running_ids:
            continue
        changed = [name for name, other in pending.items() if checkpoint.generate(row, *other).hypotheses != made.hypotheses]
        if not changed and len(rows) >= case.rows - bool(pending):
            continue
        for name in changed:
            del pending[name]
        rows.append(row | {"hypotheses": made.hypotheses})
        if not pending and len(rows) >= case.rows:
            return rows
    raise AssertionError(f"{', '.join(pending) or 'close calls'}: {len(rows)} rows in {MOST_DRAWS} draws")


def write_cases(path, cases):
    """Writes the cases as JSON with one line per row."""
    blocks = []
    for case, rows in cases:
        head = {"name": case.name, "options": case.options} | ({"settings": case.settings} if case.settings else {})
        lines = []
        for row in rows:
            row = {key: value for key, value in row.items() if value}
            row["hypotheses"] = [h | {"score": round(h["score"], 6)} for h in row["hypotheses"]]
            lines.append(json.dumps(row))
        blocks.append(json.dumps(head)[:-1] + ', "rows": [\n' + ",\n".join(lines) + "]}")
    path.write_text('{"cases": [\n' + ",\n".join(blocks) + "\n]}\n", encoding="utf-8")


def make(name, folder):
    checkpoint = Checkpoint(name, folder)
    random = np.random.default_rng(sum(name.encode()))
    made, refused = [], []
    for case in cases_of(*checkpoint.common(random))[CHECKPOINTS[name]]:
        if checkpoint.family.kind == DECODER_ONLY and case.prefix_lengths != (0,) and not case.settings:
            continue  # a decoder-only model has a prompt instead of a prefix
        try:
            made.append((case, find_rows(checkpoint, case, random)))
        except (AssertionError, ValueError) as reason:
            refused.append(f"    {case.name}: {reason}")
    write_cases(folder / "generation.json", made)
    size = (folder / "generation.json").stat().st_size // 1024
    rows = sum(len(rows) for _, rows in made)
    print(f"{name:32} {size:4} KiB  {len(made)} cases, {rows} rows", *refused, sep="\n", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Makes the golden results of generation.")
    parser.add_argument("--only", nargs="*", default=[], choices=[[], *CHECKPOINTS], metavar="FAMILY/CASE")
    arguments = parser.parse_args()
    maker.prepare()
    torch.use_deterministic_algorithms(True)
    for name in arguments.only or CHECKPOINTS:
        make(name, Path(__file__).parent / name)


if __name__ == "__main__":
    main()
