"""What a golden case and a model family are."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

ENCODER_DECODER, ENCODER_ONLY, DECODER_ONLY = "encoder-decoder", "encoder-only", "decoder-only"


@dataclass
class Tap:
    """Where the value of one graph node is found: at the output or the input of a module of the reference."""

    node: str
    module: torch.nn.Module
    at: str = "output"
    scale: float = 1.0
    plus: str | None = None  # an earlier node that is added


@dataclass
class Family:
    """How checkpoints of one model_type are made at random and looked into."""

    model_class: Any  # of the oracle; its forward gives `logits`, or `last_hidden_state` where there are no decoder rows
    config_class: Any
    taps: Callable  # model -> list of Tap, in graph order
    kind: str = ENCODER_DECODER
    config: Callable = lambda given: {}  # the case's own settings -> settings that it may leave out
    generation: Callable = lambda config: {}  # -> generation_config.json of every case
    # The rows of `forward`: a length of 1 is among them, and no order that would hide a mix-up.
    source_lengths: tuple = (5, 9, 1, 7)
    target_lengths: tuple = (4, 1, 7, 3)
    cached: bool = True  # whether the reference's greedy search uses its key/value cache
    first_id: int = 4  # smaller ids have a meaning of their own
    pad_is_last: bool = False  # Marian: the ordinary ids end where the pad id stands
    head_class: Any = None  # the class that is filled and saved, where it is not model_class
    computed: tuple = ()  # how the names of tensors end that a checkpoint need not have
    unused: tuple = ()  # parts of the names of stored tensors that the oracle does not read


@dataclass
class Case:
    """One checkpoint. `config` goes into the family's config class, `generation` into generation_config.json."""

    name: str
    family: Family
    config: dict
    generation: dict = field(default_factory=dict)
    dtype: torch.dtype = torch.float32
    publish: Callable | None = None  # (case, model, folder) -> oracle; default: save_pretrained and from_pretrained
    adjust: Callable | None = None  # (model, random): a last change of the random weights
    source_lengths: tuple | None = None  # instead of the family's
    logits_bias: bool = True  # False: final_logits_bias stays zero
    output_ids: int | None = None  # the file has logits for only so many ids
    same_model: bool = True  # False: the format changes the weights that were made
    nodes: bool = True  # False: expected.safetensors has no nodes
    pad_inside_source: bool = False  # the pad id as an ordinary, attended token
    bad_phrases: bool = False  # add a banned pair and a banned triple that the model would otherwise produce
    tokenizer: Any = None  # writes tokenizer files and the texts' expectations (marian_text.py)
    eos_rate: float = 0.1
    seed: int = 0  # where the search for a usable seed begins


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
