"""Generation by the reference with any options, and the margin of its decisions."""

import math
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from maker.case import DECODER_ONLY

PLACEHOLDER = -1e8  # a lower score in beam search is that of an empty beam or hypothesis


@dataclass
class Generated:
    hypotheses: list  # {"token_ids", "score"}, best first
    margin: float  # smallest difference of two scores whose order mattered; 0 if a placeholder was used
    running_ids: set  # all ids of the beams that were continued


class BeamWatch:
    """An observer of the beam search of one source. Methods named like functions of the reference get their arguments."""

    def __init__(self, num_beams, end_ids):
        self.num_beams, self.end_ids = num_beams, end_ids
        self.margin, self.running_ids = math.inf, set()

    def boundary(self, scores, kept):
        """Updates the margin after a choice of the best `kept` of `scores`."""
        if torch.isnan(scores).any():
            self.margin = 0.0
        best = scores[scores > PLACEHOLDER].topk(min(kept + 1, int((scores > PLACEHOLDER).sum()))).values
        if len(best) > kept:
            self.margin = min(self.margin, (best[kept - 1] - best[kept]).item())

    def get_top_k_continuations(self, accumulated_log_probs, cur_len, running_sequences, decoder_prompt_len, **_):
        scores = accumulated_log_probs[0]
        vocabulary = len(scores) // self.num_beams
        is_end = torch.isin(torch.arange(len(scores)) % vocabulary, torch.tensor(sorted(self.end_ids)))
        self.boundary(scores, self.num_beams)
        self.boundary(scores[~is_end], self.num_beams)
        self.running_ids |= set(running_sequences[0, :, decoder_prompt_len:cur_len].flatten().tolist())

    def update_finished_beams(self, beam_scores, topk_log_probs, cur_len, decoder_prompt_len, length_penalty, **more):
        hits = more["next_token_hits_stopping_criteria"] & more["top_num_beam_mask"]
        finished = topk_log_probs[hits] / (cur_len + 1 - decoder_prompt_len) ** length_penalty
        self.boundary(torch.cat([beam_scores[0], finished]), self.num_beams)

    def check_early_stop_heuristic(self, running_beam_scores, beam_scores, is_sent_finished, **more):
        length = more["cur_len"] - more["decoder_prompt_len"]
        if more["early_stopping"] == "never" and more["length_penalty"] > 0:
            length = more["max_length"] - more["decoder_prompt_len"]
        if is_sent_finished.all() and more["early_stopping"] is not True:
            best = running_beam_scores[0, 0] / length ** more["length_penalty"]
            self.margin = min(self.margin, abs(best - beam_scores.min()).item())


@contextmanager
def watched(model, watch):
    """Makes the reference call the methods of `watch` too, within the with block."""
    names = ["get_top_k_continuations", "update_finished_beams", "check_early_stop_heuristic"]

    def observed(observer, original):
        def both(**arguments):
            observer(**arguments)
            return original(**arguments)

        return both

    for name in names:
        setattr(model, f"_{name}", observed(getattr(watch, name), getattr(model, f"_{name}")))
    try:
        yield
    finally:
        for name in names:
            delattr(model, f"_{name}")


def end_ids_of(model):
    ends = model.generation_config.eos_token_id
    return set(ends if isinstance(ends, list) else [ends]) - {None}


@torch.no_grad()
def generate_alone(family, model, source, prefix, options):
    """Generates from one source. `prefix` are the ids after the decoder start token; they are part of the hypotheses.

    As in `encdec generate --json`, hypotheses have neither the start token nor the prompt of a decoder-only model.
    """
    settings = model.generation_config
    if family.kind == DECODER_ONLY:
        prompt, shown, inputs = source, len(source), {}
    else:
        start = settings.decoder_start_token_id
        prompt, shown = [settings.bos_token_id if start is None else start] + prefix, 1
        inputs = {"decoder_input_ids": torch.tensor([prompt])}
    num_beams = options.get("num_beams", settings.num_beams) or 1
    wanted = options.get("num_return_sequences", settings.num_return_sequences) or 1
    watch = BeamWatch(num_beams, end_ids_of(model))
    with watched(model, watch):
        output = model.generate(
            torch.tensor([source]), attention_mask=torch.ones(1, len(source), dtype=torch.long), use_cache=family.cached,
            **inputs | options | {"do_sample": False, "num_beams": num_beams, "num_return_sequences": num_beams},
            return_dict_in_generate=True, output_scores=True, output_logits=True,
        )  # fmt: skip
    if num_beams == 1:
        return greedy_result(output, len(prompt), shown)
    scores = output.sequences_scores.tolist()
    margin = min([watch.margin] + [a - b for a, b in zip(scores[:wanted], scores[1:])])
    margin = margin if scores[wanted - 1] >= PLACEHOLDER else 0.0
    lengths = (output.beam_indices >= 0).sum(1) + len(prompt)
    rows = [row[shown:length].tolist() for row, length in zip(output.sequences, lengths)]
    hypotheses = [{"token_ids": ids, "score": score} for ids, score in zip(rows, scores)]
    return Generated(hypotheses[:wanted], margin, watch.running_ids)


def greedy_result(output, prompt_length, shown):
    ids = output.sequences[0].tolist()
    score, margin = 0.0, math.inf
    for token, scores, logits in zip(ids[prompt_length:], output.scores, output.logits):
        score += torch.log_softmax(logits[0].double(), dim=-1)[token].item()
        finite = scores[0][torch.isfinite(scores[0])]
        if torch.isnan(scores).any() or len(finite) == 0:
            margin = 0.0
        elif len(finite) > 1 and (finite != 0).any():  # all zeros: several forced end tokens, of which the first wins
            best, second = finite.topk(2).values.tolist()
            margin = min(margin, best - second)
    return Generated([{"token_ids": ids[shown:], "score": score}], margin, set(ids[prompt_length:]))
