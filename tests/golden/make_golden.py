#!/usr/bin/env python3
"""Makes the golden test data: tiny random checkpoints of every family, and the results of transformers with them.

README.md describes the files, their checks, how to run this, and how to add a family.
"""

import argparse
import shutil
from pathlib import Path

import maker
from safetensors.torch import save_file

from maker.case import ENCODER_ONLY
from maker.checks import add_bad_phrases, check_case, difference, is_usable, settings_matter
from maker.expected import run_forward, run_greedy, tensors_of
from maker.table import FAMILIES
from maker.publish import publish
from maker.random_checkpoint import make_model, make_rows


def usable_models(case):
    """Tries seeds. Yields the models whose greedy search is worth testing."""
    for seed in range(case.seed, case.seed + 2000):
        model = make_model(case, seed)
        sources, targets = make_rows(case, model, seed)
        if case.family.kind == ENCODER_ONLY:
            yield seed, model, sources, targets
            continue
        if case.bad_phrases and not add_bad_phrases(case, model, sources):
            continue
        rows = sources or targets
        greedy = [run_greedy(case.family, model, row) for row in rows]
        if is_usable(greedy, model.config) and settings_matter(case, model, rows, greedy):
            yield seed, model, sources, targets


def write_case(case, folder):
    """Writes the first checkpoint that is usable and passes the checks. Writes the whole folder or nothing."""
    part = folder.with_name(folder.name + ".part")
    try:
        described = write_first_usable(case, part)
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
        return described
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_first_usable(case, folder):
    refused = []
    for seed, model, sources, targets in usable_models(case):
        shutil.rmtree(folder, ignore_errors=True)
        made = run_forward(case.family, model, sources, targets)
        oracle = (case.publish or publish)(case, model, folder / "model")
        try:
            forward = run_forward(case.family, oracle, sources, targets)
            if case.same_model:
                assert difference(forward.output, made.output) < 1e-5, "the oracle is not the model that was made"
            weakest, error = check_case(case, oracle, forward, sources, targets)
            greedy = []
            if case.family.kind != ENCODER_ONLY:
                greedy = [run_greedy(case.family, oracle, row) for row in sources or targets]
                assert is_usable(greedy, oracle.config), "what is stored is not what was searched for"
        except AssertionError as reason:
            refused.append(f"seed {seed}: {reason}")
            if len(refused) > 20:
                break
            continue
        save_file(tensors_of(case, forward, sources, targets, greedy), folder / "expected.safetensors")
        if case.tokenizer:
            case.tokenizer.write_expected(case, oracle, folder / "model", folder / "expected_tokenizer.json")
        return f"seed {seed:4}  error {error:.1e}  weakest tensor {weakest:.1e}  {describe(greedy)}"
    raise RuntimeError("\n".join([f"{case.name}: no usable seed"] + refused))


def describe(greedy):
    return f"new ids {[len(g.ids) for g in greedy]}  smallest gap {min(g.gap for g in greedy):.3f}" if greedy else ""


def finish(folder):
    """Sets the same permissions for all files. Returns their total size."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    for path in files:
        path.chmod(0o644)
    return sum(path.stat().st_size for path in files)


def main():
    parser = argparse.ArgumentParser(description="Makes the golden test data.")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent)
    parser.add_argument("--only", nargs="*", default=[], help="families, or family/case; default: all of them")
    arguments = parser.parse_args()
    maker.prepare()
    known = set()
    for family, cases in FAMILIES.items():
        if not arguments.only or family in arguments.only:
            shutil.rmtree(arguments.output / family, ignore_errors=True)
        known.add(family)
        for case in cases:
            name = f"{family}/{case.name}"
            known.add(name)
            if not arguments.only or {family, name} & set(arguments.only):
                result = write_case(case, arguments.output / name)
                print(f"{name:32} {finish(arguments.output / name) // 1024:4} KiB  {result}", flush=True)
    if set(arguments.only) - known:
        parser.error(f"no such family or case: {', '.join(sorted(set(arguments.only) - known))}")


if __name__ == "__main__":
    main()
