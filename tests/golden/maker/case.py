"""The classes of golden cases and model families."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import transformers

ENCODER_DECODER, ENCODER_ONLY, DECODER_ONLY = "encoder-decoder", "encoder-only", "decoder-only"


@dataclass
class Tap:
    """The place of a graph node's value in the reference: the output or the input of a module, times `scale`."""

    node: str
    module: torch.nn.Module
    at: str = "output"
    scale: float = 1.0
    plus: str | None = None  # an earlier node whose value is added
    call: int = 0  # number of the call, for a module that is called several times


def norm_last_taps(prefix, parts, call=0):
    """Returns the taps of a norm-last layer. `parts` are (node, function, norm) of each sub-layer, in order."""
    found = []
    for node, function, norm in parts:
        found += [Tap(f"{prefix}.{node}", function, call=call), Tap(f"{prefix}.{node}_norm", norm, call=call)]
    return found


def norm_first_taps(prefix, parts, layer):
    """Returns the taps of a norm-first layer. `parts` are (node, norm) of each sub-layer, in order. The residual sum is the input
    of the next norm, or the output of the layer."""
    found = []
    for i, (node, norm) in enumerate(parts):
        total = Tap(f"{prefix}.{node}", parts[i + 1][1], at="input") if i + 1 < len(parts) else Tap(f"{prefix}.{node}", layer)
        found += [Tap(f"{prefix}.{node}_norm", norm), total]
    return found


@dataclass
class Family:
    """A model_type: how to make random checkpoints of it, and where to find their intermediate values."""

    model_class: Any  # class of the oracle; forward() returns `logits`, or `last_hidden_state` if it is encoder-only
    config_class: Any
    taps: Callable  # model -> list of Tap, in graph order
    kind: str = ENCODER_DECODER
    config: Callable = lambda given: {}  # settings of the case -> defaults for its other settings
    generation: Callable = lambda config: {}  # config -> generation_config.json of every case
    # Lengths of the rows of `forward`. They include 1, and are not sorted, so that swapped rows are noticed.
    source_lengths: tuple = (5, 9, 1, 7)
    target_lengths: tuple = (4, 1, 7, 3)
    cached: bool = True  # whether the reference's greedy search uses its key/value cache
    first_id: int = 4  # first ordinary id; smaller ids are special tokens
    pad_is_last: bool = False  # Marian: the pad id follows the last ordinary id
    head_class: Any = None  # class of the model that is filled and saved; default: model_class
    computed: tuple = ()  # endings of the names of tensors that a checkpoint need not have
    unused: tuple = ()  # parts of the names of stored tensors that the oracle does not read


def family(name, head, taps, **options):
    """Returns the family of transformers' classes NAMEHEAD and NAMEConfig."""
    return Family(getattr(transformers, name + head), getattr(transformers, f"{name}Config"), taps, **options)


def classifier(name, task, taps, **options):
    """Returns a family of classifiers of texts (task "Sequence") or of tokens ("Token")."""

    def taps_with_head(model):
        head = getattr(model, "classification_head", None) or model.classifier
        output = getattr(head, "out_proj", head)
        dense = [Tap("head.dense", output, at="input")] if task == "Sequence" else []
        return [*taps(model), *dense, Tap("head.output", output)]

    return family(name, f"For{task}Classification", taps_with_head, kind=ENCODER_ONLY, **options)


@dataclass
class Case:
    """A checkpoint. `config` goes into the family's config class, `generation` into generation_config.json."""

    name: str
    family: Family
    config: dict
    generation: dict = field(default_factory=dict)
    dtype: torch.dtype = torch.float32
    publish: Callable | None = None  # (case, model, folder) -> oracle; default: save_pretrained and from_pretrained
    adjust: Callable | None = None  # (model, random): changes the random weights at the end
    source_lengths: tuple | None = None  # default: the family's
    logits_bias: bool = True  # False: final_logits_bias stays zero
    output_ids: int | None = None  # number of ids for which the file has logits; default: all
    same_model: bool = True  # False: the format changes the weights
    nodes: bool = True  # False: expected.safetensors has no nodes
    pad_inside_source: bool = False  # sources contain the pad id as an ordinary token that is attended to
    bad_phrases: bool = False  # ban a pair and two triples of ids that the model would otherwise generate
    tokenizer: Any = None  # writes tokenizer files and expected results for texts (marian_text.py)
    eos_rate: float = 0.1  # fraction of the steps in which the end token should win
    seed: int = 0  # first seed that is tried
