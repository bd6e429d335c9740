#!/usr/bin/env python3
"""Adds attention.safetensors to some cases of make_golden.py: the attention weights of transformers for one source and target.
"""

import argparse
from pathlib import Path

import maker  # noqa: F401, before transformers
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoModelForSeq2SeqLM

FOLDER = Path(__file__).parent
CASES = """
    bart/base bert/base blenderbot/base blenderbot_small/base distilbert/base gemma3_text/base gpt2/unscaled_attention
    gpt2/without_prefix m2m_100/odd_width marian/odd_sizes marian/shared_swish mbart/fifty mt5/published
    pegasus/stored_positions plbart/base qwen2/windows roberta/base t5/few_buckets t5/v1_1 t5gemma2/base
    umt5/tied xlm_roberta/base
""".split()
# Maps transformers' names to ours.
KINDS = {"encoder_attentions": "encoder_self", "decoder_attentions": "decoder_self", "cross_attentions": "cross"}


def longest(ids):
    """Returns the longest of the rows, which are padded with -1, without its padding."""
    rows = [row[row >= 0] for row in ids]
    return max(rows, key=len)[None].long()


@torch.no_grad()
def attentions(folder):
    expected = load_file(folder / "expected.safetensors")
    config = AutoConfig.from_pretrained(folder / "model")
    source, target = (longest(expected[name]) if name in expected else None for name in ("source_ids", "target_ids"))
    options = {"attn_implementation": "eager", "dtype": torch.float32}
    if config.is_encoder_decoder:
        model = AutoModelForSeq2SeqLM.from_pretrained(folder / "model", **options)
        output = model(input_ids=source, decoder_input_ids=target, output_attentions=True, use_cache=False)
        tensors = {ours: torch.cat(output[theirs]) for theirs, ours in KINDS.items()}
    else:
        name, ids = ("encoder_self", source) if target is None else ("decoder_self", target)
        model = (AutoModel if target is None else AutoModelForCausalLM).from_pretrained(folder / "model", **options)
        tensors = {name: torch.cat(model(ids, output_attentions=True).attentions)}
    for name, ids in (("source_ids", source), ("decoder_input_ids", target)):
        if ids is not None:
            tensors[name] = ids[0].int()
    return {name: value.contiguous() for name, value in tensors.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=CASES, default=CASES, metavar="CASE")
    for case in parser.parse_args().only:
        tensors = attentions(FOLDER / case)
        save_file(tensors, FOLDER / case / "attention.safetensors")
        print(case, {name: list(value.shape) for name, value in tensors.items()})


if __name__ == "__main__":
    main()
