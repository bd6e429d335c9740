"""The golden cases of generation: their options, and the cases of each checkpoint."""

from collections import Counter
from dataclasses import dataclass, field

PREFIXES = (0, 3, 1, 5)


@dataclass
class GenerationCase:
    """`options` are passed to generate(). `settings` change generation_config.json; null removes a key."""

    name: str
    options: dict
    settings: dict = field(default_factory=dict)
    prefix_lengths: tuple = (0,)  # prefix lengths of the rows, repeated cyclically
    may_not_matter: tuple = ()  # options whose change need not change the results
    rows: int = 4


class Common:
    """Frequent tokens and phrases of a checkpoint, for the options that ban them."""

    def __init__(self, texts, end_ids):
        self.texts, self.end_ids = texts, end_ids

    def phrases(self, length, count):
        """Returns the `count` most frequent phrases of `length` tokens, except those at the ends of texts."""
        grams = Counter(tuple(text[i : i + length]) for text in self.texts for i in range(1, len(text) - length))
        return [list(gram) for gram in self.commonest(grams) if not self.end_ids & set(gram)][:count]

    def tokens(self, count):
        return [phrase[0] for phrase in self.phrases(1, count)]

    def first_tokens(self, count):
        seen = Counter(text[0] for text in self.texts if text[0] not in self.end_ids)
        return self.commonest(seen)[:count]

    @staticmethod
    def commonest(counter):
        return sorted(counter, key=lambda thing: (-counter[thing], thing))


def cases_of(common, ends):
    """Returns all cases. `ends` are the checkpoint's end tokens."""
    cases = search_cases()
    for label, beams in ("greedy", 1), ("beams", 4):
        kind = {"num_beams": beams, "num_return_sequences": max(1, beams - 1), "max_new_tokens": 16}
        cases += rule_cases(label, kind, common)
        cases += length_cases(label, kind, ends + common.tokens(2))
        cases += prefix_cases(label, kind, common)
    return cases + mixed_cases(common, ends)


def search_cases():
    """Returns cases with different numbers of beams and stopping conditions."""
    cases = [
        GenerationCase("checkpoint_defaults", {}),
        GenerationCase("greedy", {"num_beams": 1, "max_new_tokens": 24}),
        GenerationCase("greedy_one_token", {"num_beams": 1, "max_new_tokens": 1}),
        GenerationCase("one_token", {"num_beams": 4, "max_new_tokens": 1}, may_not_matter=("num_beams",)),
        GenerationCase("two_tokens", beam_options(3, 2, 2), may_not_matter=("num_beams",)),
    ]
    for beams, returned in (2, 2), (3, 1), (4, 4), (5, 3), (6, 6), (7, 2), (8, 8):
        cases.append(GenerationCase(f"beams_{beams}", beam_options(beams, returned, 14)))
    stoppings = {"false": False, "true": True, "never": "never"}
    for penalty, name in (-1.0, "minus_1"), (0.0, "0"), (0.6, "0_6"), (1.5, "1_5"), (2.0, "2"):
        for label, stopping in stoppings.items():
            options = beam_options(3, 3, 12) | {"length_penalty": penalty, "early_stopping": stopping}
            # False and "never" only differ if longer texts can score higher, which needs a positive penalty.
            same = ("early_stopping",) if penalty <= 0 and stopping is not True else ()
            cases.append(GenerationCase(f"penalty_{name}_{label}", options, may_not_matter=same))
    for label, stopping in stoppings.items():
        cases.append(GenerationCase(f"stopping_{label}", beam_options(4, 4, 20) | {"early_stopping": stopping}))
    return cases


def beam_options(num_beams, num_return_sequences, max_new_tokens):
    return {"num_beams": num_beams, "num_return_sequences": num_return_sequences, "max_new_tokens": max_new_tokens}


def rule_cases(label, kind, common):
    """Returns cases with one logits processor each."""
    often = common.tokens(6)
    rules = {
        "min_new_tokens": {"min_new_tokens": 9},
        "no_repeat_1": {"no_repeat_ngram_size": 1},
        "no_repeat_2": {"no_repeat_ngram_size": 2},
        "no_repeat_3": {"no_repeat_ngram_size": 3},
        "repetition_penalty_low": {"repetition_penalty": 0.7},
        "repetition_penalty_high": {"repetition_penalty": 1.3},
        "encoder_no_repeat_1": {"encoder_no_repeat_ngram_size": 1},
        "encoder_no_repeat_2": {"encoder_no_repeat_ngram_size": 2},
        "encoder_penalty_low": {"encoder_repetition_penalty": 0.6},
        "encoder_penalty_high": {"encoder_repetition_penalty": 1.5},
        "bad_words_single": {"bad_words_ids": [[token] for token in often[:2]]},
        "bad_words_long": {"bad_words_ids": common.phrases(2, 4) + common.phrases(3, 2)},
        "suppress": {"suppress_tokens": often[1:4]},
        "begin_suppress": {"begin_suppress_tokens": common.first_tokens(2)},
        "forced_bos": {"forced_bos_token_id": often[2]},
        "forced_bos_begin_suppress": {"forced_bos_token_id": often[3], "begin_suppress_tokens": often[:3]},
        "forced_eos": {"forced_eos_token_id": often[1], "max_new_tokens": 6},
        "decay": {"exponential_decay_length_penalty": (2, 1.15)},
        "decay_late": {"exponential_decay_length_penalty": (5, 1.6)},
    }
    return [
        GenerationCase(f"{label}_{name}", kind | rule, may_not_matter=("max_new_tokens",) if name.startswith("decay") else ())
        for name, rule in rules.items()
    ]


def length_cases(label, kind, ends):
    """Returns cases with several end tokens, and with limits that only generation_config.json sets."""
    search, several = {"num_beams": kind["num_beams"]}, {"eos_token_id": ends}
    return [
        GenerationCase(f"{label}_several_ends", kind, several),
        GenerationCase(f"{label}_several_ends_min_new_tokens", kind | {"min_new_tokens": 5}, several),
        GenerationCase(f"{label}_max_length", search, {"max_length": 8}, PREFIXES, may_not_matter=("num_beams",)),
        GenerationCase(f"{label}_max_new_tokens_of_file", search, {"max_new_tokens": 9}, PREFIXES),
        GenerationCase(f"{label}_min_length", search, {"min_length": 11}, PREFIXES),
        GenerationCase(f"{label}_min_new_tokens_of_file", search, {"min_new_tokens": 6, "min_length": 11}, PREFIXES,
                       may_not_matter=("min_length",)),
    ]


def prefix_cases(label, kind, common):
    often = common.tokens(6)
    rules = {
        "no_repeat": {"no_repeat_ngram_size": 2},
        "penalty": {"repetition_penalty": 1.2},
        "forced_bos": {"forced_bos_token_id": often[2]},
        "begin_suppress": {"begin_suppress_tokens": often, "forced_bos_token_id": often[0]},
        "decay_min": {"exponential_decay_length_penalty": (4, 1.3), "min_new_tokens": 4},
        "bad_words": {"bad_words_ids": common.phrases(2, 6) + [[often[0]]], "encoder_no_repeat_ngram_size": 2},
    }
    few = {"num_beams": kind["num_beams"], "max_new_tokens": 3}
    cases = [
        GenerationCase(f"{label}_prefix", kind, prefix_lengths=PREFIXES),
        GenerationCase(f"{label}_prefix_only", few, prefix_lengths=(4, 2), may_not_matter=("num_beams",)),
    ]
    for name, rule in rules.items():
        same = ("max_new_tokens",) if name == "decay_min" else ()
        lengths = (2, 0, 1) if name == "begin_suppress" else PREFIXES
        cases.append(GenerationCase(f"{label}_prefix_{name}", kind | rule, prefix_lengths=lengths, may_not_matter=same))
    return cases


def mixed_cases(common, ends):
    """Returns cases with many logits processors at once."""
    often, pairs = common.tokens(6), common.phrases(2, 3)
    # Greedy search takes the first of several forced end tokens. With beams their order is undefined.
    forced = {"num_beams": 1, "max_new_tokens": 5, "forced_eos_token_id": sorted(often[:2])}
    summary = beam_options(4, 2, 18) | {"min_new_tokens": 6, "length_penalty": 2.0, "early_stopping": True}
    summary |= {"no_repeat_ngram_size": 3, "forced_bos_token_id": often[1]}
    penalties = beam_options(5, 5, 16) | {"length_penalty": 0.6, "repetition_penalty": 1.3}
    penalties |= {"encoder_repetition_penalty": 1.2, "early_stopping": "never"}
    bans = beam_options(6, 4, 12) | {"no_repeat_ngram_size": 2, "bad_words_ids": pairs}
    bans |= {"suppress_tokens": often[:2], "begin_suppress_tokens": often[2:4]}
    soon = beam_options(3, 3, 10) | {"length_penalty": -1.0}
    soon |= {"exponential_decay_length_penalty": (3, 1.1), "repetition_penalty": 0.8}
    greedy = {"num_beams": 1, "max_new_tokens": 16, "min_new_tokens": 7, "no_repeat_ngram_size": 2}
    greedy |= {"repetition_penalty": 1.4, "suppress_tokens": often[:1], "bad_words_ids": pairs}
    other_ends = {"eos_token_id": ends + often[:3], "forced_eos_token_id": None}
    return [
        GenerationCase("greedy_forced_ends", forced),
        GenerationCase("mixed_summary", summary),
        GenerationCase("mixed_penalties", penalties),
        GenerationCase("mixed_bans", bans, {"eos_token_id": ends + often[4:5]}, (0, 2, 4)),
        GenerationCase("mixed_ends", soon, other_ends, (1, 0, 3)),
        GenerationCase("mixed_greedy", greedy, prefix_lengths=(0, 2)),
    ]


# Checkpoints, and the slice of the cases that each one runs.
CHECKPOINTS = {
    "marian/shared_swish": slice(None),
    "marian/separate_vocabulary": slice(0, None, 4),
    "marian/forced_bos": slice(1, None, 4),
    "bart/base": slice(2, None, 4),
    "bart/summarization": slice(3, None, 4),
    "mbart/fifty": slice(0, None, 4),
    "m2m_100/forced_bos": slice(1, None, 4),
    "pegasus/stored_positions": slice(2, None, 4),
    "blenderbot/encoder_no_repeat": slice(3, None, 4),
    "t5/v1_0": slice(1, None, 4),
    "gpt2/with_prefix": slice(0, None, 2),
    "t5gemma/base": slice(1, None, 9),
    "t5gemma2/base": slice(0, None, 9),
    "gemma2/base": slice(5, None, 9),
    "gemma3_text/base": slice(6, None, 9),
    "qwen2/windows": slice(7, None, 9),
    "llama/llama3": slice(8, None, 9),
}
