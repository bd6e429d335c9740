"""Results of the reference: nodes, logits and greedy search."""

import itertools
from dataclasses import dataclass

import torch

from maker.case import DECODER_ONLY, ENCODER_DECODER, ENCODER_ONLY


def pad_rows(rows, filler):
    length = max(map(len, rows))
    ids = torch.tensor([row + [filler] * (length - len(row)) for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (length - len(row)) for row in rows])
    return ids, mask


def zero_padding(values, rows):
    return torch.stack([torch.cat([v[: len(row)], torch.zeros_like(v[len(row) :])]) for v, row in zip(values, rows)])


@dataclass
class Forward:
    nodes: dict  # padded, in graph order; the last one is the output
    output: torch.Tensor  # logits, or the hidden states of an encoder-only model, followed by a classifier's logits
    encoder_output: torch.Tensor | None
    classes: torch.Tensor | None = None  # a classifier's logits: [B, labels] or [B, S, labels]

    def pack(self, sources, targets):
        """Returns the rows of all sequences one after another, without padding."""
        packed = {}
        for name, values in self.nodes.items():
            if values.dim() == 2:  # a row for each source: the head of a classifier of texts
                packed[name] = values.clone()
                continue
            rows = sources if name.startswith("encoder.") or not targets else targets
            packed[name] = torch.cat([values[b, : len(row)] for b, row in enumerate(rows)]).contiguous()
        return packed


@torch.no_grad()
def run_forward(family, model, sources, targets):
    """Runs the model on one padded batch with explicit masks."""
    if family.kind == ENCODER_ONLY and family.head_class:  # the oracle has no head
        model = model.base_model
    nodes = {}
    handles = []

    def attach(tap):
        calls = itertools.count()

        def store(value):
            if next(calls) != tap.call:
                return
            value = value if tap.scale == 1.0 else value * tap.scale
            nodes[tap.node] = value if tap.plus is None else nodes[tap.plus] + value

        def on_output(module, arguments, output):
            store(output[0] if isinstance(output, tuple) else output)

        def on_input(module, arguments, named):
            store(arguments[0] if arguments else named["hidden_states"])

        if tap.at == "output":
            handles.append(tap.module.register_forward_hook(on_output))
        else:
            handles.append(tap.module.register_forward_pre_hook(on_input, with_kwargs=True))

    for tap in family.taps(model):
        attach(tap)
    pad = model.config.pad_token_id or 0
    if family.kind == ENCODER_DECODER:
        source_ids, source_mask = pad_rows(sources, pad)
        target_ids, target_mask = pad_rows(targets, pad)
        output = model(input_ids=source_ids, attention_mask=source_mask, decoder_input_ids=target_ids,
                       decoder_attention_mask=target_mask, use_cache=False)  # fmt: skip
    else:
        ids, mask = pad_rows(sources or targets, pad)
        output = model(input_ids=ids, attention_mask=mask, output_hidden_states=family.kind == ENCODER_ONLY)
    for handle in handles:
        handle.remove()
    if family.kind == ENCODER_ONLY:
        classes = output.get("logits")
        # A classifier whose decoder reads the source has encoder_last_hidden_state, other classifiers have neither.
        hidden = output.get("last_hidden_state", output.get("encoder_last_hidden_state"))
        if hidden is None:
            hidden = nodes.get("encoder.norm", output.hidden_states[-1])
        hidden = zero_padding(hidden, sources)  # implementations of attention differ in rows of padding
        if classes is None:
            return Forward(nodes, hidden, hidden)
        of_rows = zero_padding(classes, sources) if classes.dim() == 3 else classes[:, None].expand(-1, hidden.shape[1], -1)
        return Forward(nodes, torch.cat([hidden, of_rows], dim=-1), hidden, classes)
    nodes["output_projection"] = output.logits
    return Forward(nodes, output.logits, output.encoder_last_hidden_state if sources else None)


@dataclass
class Greedy:
    ids: list  # new ids with the end token, without start token or prompt
    score: float
    reached_end: bool  # whether the row has the maximum length
    gap: float  # smallest difference of the best two scores in any step without a forced token


@torch.no_grad()
def run_greedy(family, model, row):
    """Runs transformers' greedy search for a single source or prompt, with the checkpoint's generation config."""
    prompt_length = len(row) if family.kind == DECODER_ONLY else 1
    output = model.generate(
        torch.tensor([row]), attention_mask=torch.ones(1, len(row), dtype=torch.long), num_beams=1, do_sample=False,
        use_cache=family.cached, return_dict_in_generate=True, output_scores=True, output_logits=True,
    )  # fmt: skip
    ids = output.sequences[0, prompt_length:].tolist()
    score, gap = 0.0, float("inf")
    for token, scores, logits in zip(ids, output.scores, output.logits):
        score += torch.log_softmax(logits[0].double(), dim=-1)[token].item()
        if torch.isfinite(scores[0]).sum() > 1:  # else the token is forced: there was no choice
            best, second = scores[0].topk(2).values.tolist()
            gap = min(gap, best - second)
    settings = model.generation_config
    limit = settings.max_new_tokens or (settings.max_length - prompt_length if settings.max_length else 20)
    return Greedy(ids, score, len(ids) == limit, gap)


def tensors_of(case, forward, sources, targets, greedy):
    """Returns the content of expected.safetensors."""
    kind = case.family.kind
    tensors = {}
    if case.nodes:
        tensors |= {f"nodes/{name}": values for name, values in forward.pack(sources, targets).items()}
    if sources:
        tensors["source_ids"] = pad_rows(sources, -1)[0].int()
    if kind == ENCODER_ONLY:
        tensors["last_hidden_state"] = zero_padding(forward.encoder_output, sources)
        if forward.classes is not None:
            per_token = forward.classes.dim() == 3
            tensors["logits"] = zero_padding(forward.classes, sources) if per_token else forward.classes
        return tensors
    if kind == ENCODER_DECODER:
        tensors["encoder_last_hidden_state"] = zero_padding(forward.encoder_output, sources)
    return tensors | {
        "target_ids": pad_rows(targets, -1)[0].int(),
        "logits": zero_padding(forward.output[..., : case.output_ids], targets).contiguous(),
        "greedy_ids": pad_rows([g.ids for g in greedy], -1)[0].int(),
        "greedy_scores": torch.tensor([g.score for g in greedy], dtype=torch.float32),
    }
