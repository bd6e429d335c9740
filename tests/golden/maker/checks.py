"""Checks that a case is worth testing against. A check that fails raises an AssertionError with the reason."""

import math

import torch

from maker.case import ENCODER_ONLY
from maker.expected import pad_rows, run_forward, run_greedy

KEY_BIASES = ("attn.k.bias", "k_proj.bias", "key.bias", "k_lin.bias")  # without effect: softmax cancels them


def is_usable(greedy, config):
    """Returns whether lengths and ids vary, some rows stop at an end token, some run to the limit, and no choice is close.

    A generated pad id is not usable: the reference's positions after it are doubtful (M2M100's cache counts the pad id).
    """
    pads = {config.pad_token_id} - {config.eos_token_id}
    return (
        not any(pads & set(g.ids) for g in greedy)
        and len({len(g.ids) for g in greedy}) >= 3
        and any(g.reached_end for g in greedy)
        and sum(not g.reached_end and len(g.ids) > 2 for g in greedy) >= 2
        and max(len(set(g.ids)) for g in greedy) >= 5
        and len({token for g in greedy for token in g.ids}) >= 7
        and min(g.gap for g in greedy) > 1e-2
    )


def add_bad_phrases(case, model, sources):
    """Bans a pair and two triples of ids that greedy search would generate. Returns False if a ban changes nothing."""
    settings, eos = model.generation_config, model.config.eos_token_id
    for length, b in (2, 0), (3, 1), (3, 2):
        before = run_greedy(case.family, model, sources[b]).ids
        free = [p for p in range(1, len(before) - length) if eos not in before[p : p + length]]
        if not free:
            return False
        settings.bad_words_ids = settings.bad_words_ids + [before[free[-1] : free[-1] + length]]
        if run_greedy(case.family, model, sources[b]).ids == before:
            return False
    return True


def settings_matter(case, model, rows, greedy):
    """Returns whether each unusual generation key of the case changes a row, and each of several end tokens ends a row."""
    ends = case.generation.get("eos_token_id", [])
    if not all(any(g.ids[-1] == end and not g.reached_end for g in greedy) for end in ends):
        return False
    neutral = {"min_length": 0, "min_new_tokens": 0, "forced_bos_token_id": None, "no_repeat_ngram_size": 0,
               "encoder_no_repeat_ngram_size": 0, "eos_token_id": model.config.eos_token_id}  # fmt: skip
    for key in set(case.generation) & set(neutral):
        settings = model.generation_config
        value = getattr(settings, key)
        setattr(settings, key, neutral[key])
        same = all(run_greedy(case.family, model, row).ids == g.ids for row, g in zip(rows, greedy))
        setattr(settings, key, value)
        if same:
            return False
    return True


def difference(a, b):
    return ((a - b).abs().max() / b.abs().max()).item()


def check_case(case, model, forward, sources, targets):
    """Runs all checks of a checkpoint. Returns the smallest effect of a tensor and the largest relative error of a node."""
    check_padding(case, model, forward, sources, targets)
    check_masks_matter(case, model, forward, sources, targets)
    weakest = check_every_tensor_matters(case, model, forward.output, sources, targets)
    return weakest, check_precision(case, model, forward.pack(sources, targets), sources, targets)


def check_padding(case, model, forward, sources, targets):
    for b, row in enumerate(targets or sources):
        alone = run_forward(case.family, model, sources[b : b + 1], targets[b : b + 1]).output[0]
        worst = (alone - forward.output[b, : len(row)]).abs().max().item()
        assert worst <= 1e-5, f"row {b}: padding changes the output by {worst}"


def check_precision(case, model, packed, sources, targets):
    """Compares with the same model in float64. The default type is float64 too, for values such as the minimum in masks."""
    torch.set_default_dtype(torch.float64)
    try:
        exact = run_forward(case.family, model.double(), sources, targets).pack(sources, targets)
    finally:
        torch.set_default_dtype(torch.float32)
        model.float()
    worst = max(difference(packed[name].double(), exact[name]) for name in exact)
    assert worst < 5e-6, f"badly conditioned: {worst}"
    return worst


@torch.no_grad()
def check_every_tensor_matters(case, model, output, sources, targets):
    """Checks that the output changes if any stored tensor is replaced by zeros (a norm's weight by ones)."""
    weakest = math.inf
    for name, tensor in model.state_dict().items():
        untied_shared = name.endswith("shared.weight") and not model.config.tie_word_embeddings
        if name.endswith(KEY_BIASES) or untied_shared or any(part in name for part in case.family.unused):
            continue
        if name == "final_logits_bias" and not case.logits_bias:
            continue
        kept = tensor.clone()
        tensor.fill_(1.0 if tensor.dim() == 1 and name.endswith(".weight") else 0.0)
        change = difference(run_forward(case.family, model, sources, targets).output, output)
        tensor.copy_(kept)
        assert change > 1e-3, f"{name} hardly matters: {change}"
        weakest = min(weakest, change)
    return weakest


@torch.no_grad()
def check_masks_matter(case, model, forward, sources, targets):
    """Checks that attending to padding would change the output, and that the last id only has an effect on the last output."""
    family = case.family
    if sources:
        source_ids, _ = pad_rows(sources, model.config.pad_token_id)
        for b, source in enumerate(sources):
            if len(source) == source_ids.shape[1]:
                continue
            length = len(targets[b] if targets else source)
            unmasked = run_forward(family, model, [source_ids[b].tolist()], targets[b : b + 1]).output[0, :length]
            assert difference(unmasked, forward.output[b, :length]) > 1e-3, f"row {b}: the mask is not seen"
    if family.kind == ENCODER_ONLY:
        return
    for b, target in enumerate(targets):
        if len(target) > 1:
            changed = target[:-1] + [(target[-1] + 3) % model.config.vocab_size]
            after = run_forward(family, model, sources[b : b + 1], [changed]).output[0]
            before = forward.output[b, : len(target)]
            assert difference(after[-1], before[-1]) > 1e-3 and difference(after[:-1], before[:-1]) < 1e-5
