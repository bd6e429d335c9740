"""Universal Transformers (Dehghani et al. 2018): the block in PyTorch, the loop in Python, halting as in the paper's listing."""

import torch
from torch import nn
from torch.nn.functional import embedding, layer_norm, linear, relu

from maker.layers.case import Case, random
from .positions import halves, interleaved

D, HEADS, HIDDEN, SOURCE_VOCABULARY, TARGET_VOCABULARY = 10, 2, 13, 11, 7
SOURCES = [[3, 1, 10, 4, 4], [0], [9, 2, 7]]
TARGETS = [[1, 6, 2], [5, 5, 0, 3], [4]]
EPSILON = 1e-5


def weights(adaptive):
    named = {"encoder.embedding.weight": random("ut/source", SOURCE_VOCABULARY, D, limit=2), "decoder.embedding.weight": random("ut/target", TARGET_VOCABULARY, D, limit=2)}

    def add(name, outputs, inputs, limit):
        named[f"{name}.weight"] = random(f"ut/{name}/weight", outputs, inputs, limit=limit)
        named[f"{name}.bias"] = random(f"ut/{name}/bias", outputs, limit=0.5)

    for side, attentions in ("encoder", ["self_attention"]), ("decoder", ["self_attention", "cross_attention"]):
        for attention in attentions:
            for part in "query", "key", "value", "output":
                add(f"{side}.{attention}.{part}", D, D, 0.6)
        add(f"{side}.transition.expand", HIDDEN, D, 0.6)
        add(f"{side}.transition.project", D, HIDDEN, 0.6)
        for norm in [f"{attention}_norm" for attention in attentions] + ["transition_norm"]:
            named[f"{side}.{norm}.weight"] = random(f"ut/{side}/{norm}/weight", D, limit=0.4) + 1
            named[f"{side}.{norm}.bias"] = random(f"ut/{side}/{norm}/bias", D, limit=0.3)
        if adaptive:
            add(f"{side}.halting", 1, D, 0.7)
            named[f"{side}.halting.bias"] -= 0.4
    add("output_projection", TARGET_VOCABULARY, D, 0.6)
    return {name: value.float().double() for name, value in named.items()}


class Universal:
    def __init__(self, weights, layout, first):
        self.weights, self.layout, self.first = weights, layout, first

    def map(self, name, x):
        return linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def norm(self, name, x):
        return layer_norm(x, (D,), self.weights[f"{name}.weight"], self.weights[f"{name}.bias"], EPSILON)

    def attend(self, name, x, memory, causal=False):
        q, k, v = (self.map(f"{name}.{part}", rows).view(len(rows), HEADS, -1).transpose(0, 1) for part, rows in (("query", x), ("key", memory), ("value", memory)))
        attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return self.map(f"{name}.output", attended.transpose(0, 1).reshape(len(x), D))

    def with_coordinates(self, state, step):
        positions = torch.arange(len(state)) + self.first
        return state + self.layout(positions, D) + self.layout(torch.tensor([step + self.first]), D)

    def block(self, side, x, memory):
        x = self.norm(f"{side}.self_attention_norm", x + self.attend(f"{side}.self_attention", x, x, causal=memory is not None))
        if memory is not None:
            x = self.norm(f"{side}.cross_attention_norm", x + self.attend(f"{side}.cross_attention", x, memory))
        transformed = self.map(f"{side}.transition.project", relu(self.map(f"{side}.transition.expand", x)))
        return self.norm(f"{side}.transition_norm", x + transformed)

    def fixed(self, side, state, memory, steps):
        for step in range(steps):
            state = self.block(side, self.with_coordinates(state, step), memory)
        return state, torch.full((len(state),), steps), torch.zeros(len(state))

    def adaptive(self, side, state, memory, max_steps, threshold, copied):
        """Implements the listing in the paper's appendix. With `copied`, positions that have halted keep their state, as the
        paper's text says."""
        halting, remainders, updates = (torch.zeros(len(state), dtype=torch.float64) for _ in range(3))
        result, step = torch.zeros_like(state), 0
        while ((halting < threshold) & (updates < max_steps)).any():
            x = self.with_coordinates(state, step)
            p = torch.sigmoid(self.map(f"{side}.halting", x)).squeeze(-1)
            was_running = halting < 1
            still_running = was_running.double()
            # No comparison is close, so rounding cannot decide it.
            assert ((halting + p * still_running - threshold).abs() > 1e-3).all()
            new_halted = (halting + p * still_running > threshold).double() * still_running
            still_running = (halting + p * still_running <= threshold).double() * still_running
            halting = halting + p * still_running
            remainders = remainders + new_halted * (1 - halting)
            halting = (halting + new_halted * remainders).where(new_halted == 0, 1.0)
            updates = updates + still_running + new_halted
            weight = (p * still_running + new_halted * remainders)[:, None]
            transformed = self.block(side, x, memory)
            result = transformed * weight + result * (1 - weight)
            state = transformed.where(was_running[:, None], state) if copied else transformed
            step += 1
        return result, updates.int(), remainders

    def run(self, side, state, memory, steps, threshold, copied):
        if threshold is None:
            return self.fixed(side, state, memory, steps)
        return self.adaptive(side, state, memory, steps, threshold, copied)


def case(name, layout, steps, threshold=None, copied=False, scale=1.0, first=1):
    stored = weights(threshold is not None)
    model = Universal(stored, layout, first)
    rows = {part: [] for part in ("encoded", "encoder_updates", "encoder_remainders", "hidden", "decoder_updates", "decoder_remainders", "logits")}
    for source, target in zip(SOURCES, TARGETS):
        state = scale * embedding(torch.tensor(source), stored["encoder.embedding.weight"])
        encoded, *encoder_halting = model.run("encoder", state, None, steps, threshold, copied)
        state = scale * embedding(torch.tensor(target), stored["decoder.embedding.weight"])
        hidden, *decoder_halting = model.run("decoder", state, encoded, steps, threshold, copied)
        for part, value in zip(rows, [encoded, *encoder_halting, hidden, *decoder_halting, model.map("output_projection", hidden)]):
            rows[part].append(value)
    inputs = {"source_ids": SOURCES, "target_ids": TARGETS}
    inputs = {key: torch.tensor(sum(value, [])) for key, value in inputs.items()}
    inputs |= {"source_lengths": torch.tensor([len(ids) for ids in SOURCES]), "target_lengths": torch.tensor([len(ids) for ids in TARGETS])}
    return Case(name, inputs, {part: torch.cat(values) for part, values in rows.items()}, stored)


def cases():
    yield case("one_step", interleaved, 1)
    yield case("five_steps", interleaved, 5, scale=D**0.5)
    yield case("from_zero_halves", halves, 3, first=0)
    yield case("adaptive_transformed", interleaved, 6, threshold=0.9)
    yield case("adaptive_copied", interleaved, 6, threshold=0.9, copied=True)
    yield case("adaptive_cut_off", interleaved, 2, threshold=0.9)
