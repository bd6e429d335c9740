#!/usr/bin/env python3
"""Makes the golden test data in tests/golden/marian: tiny random Marian checkpoints and what transformers computes on them.

    pip install -r requirements.txt      # numpy 2.4.6, safetensors 0.8.0, sentencepiece 0.2.3, tokenizers 0.23.3,
    python make_golden.py                # torch 2.15.0, transformers 5.23.0; CPU only

Every case is a folder:
    model/                    the checkpoint as `save_pretrained` publishes it
    expected.safetensors      every node of the graph, the logits, and what greedy search gives (layout: README.md)
    expected_tokenizer.json   the cases with a tokenizer only

All weights come from numpy generators with fixed seeds; no timestamps, no paths and no threads take part, so a second run on
the same machine writes the same bytes. Other processors may change the last bits of the expected values, nothing else.

The weights are harsh on purpose: large, with random biases, LayerNorm weights and biases, logits bias and padding row, so that
one missing term or one wrong mask changes the logits visibly. `check_every_tensor_matters` and `check_masks_matter` prove it;
`check_precision` proves that the expected values themselves are far more exact than a test needs.
"""

import argparse
import io
import json
import logging
import math
import os
import shutil
import warnings
from dataclasses import dataclass, field
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import sentencepiece
import torch
import transformers
from safetensors.torch import save_file
from transformers import GenerationConfig, MarianConfig, MarianMTModel, MarianTokenizer

EOS, UNK = 0, 1

# The lengths of the source and of the target rows of `forward`: 1 is among them, and no order that would hide a mix-up.
SOURCE_LENGTHS = [6, 13, 1, 9]
TARGET_LENGTHS = [5, 1, 9, 4]


@dataclass
class Case:
    """One checkpoint. `config` goes into MarianConfig, `generation` into generation_config.json."""

    name: str
    config: dict
    generation: dict = field(default_factory=dict)
    dtype: torch.dtype = torch.float32
    max_shard_size: str | None = None
    old_writer: bool = False
    tokenizer: "Tokenizers | None" = None
    separate_vocabs: bool = False
    pad_inside_source: bool = False  # the pad id as an ordinary, attended token
    bad_phrases: bool = False  # add a banned pair and a banned triple that the model would otherwise produce
    eos_rate: float = 0.1
    seed: int = 0  # where the search for a usable seed begins


# ---------------------------------------------------------------------------------------------------------- random checkpoints


def make_config(case):
    """MarianConfig of the case: pad is the last id of the source vocabulary and starts the decoder, as in published models."""
    pad = case.config["vocab_size"] - 1
    return MarianConfig(
        **{
            "max_position_embeddings": 64,
            "pad_token_id": pad,
            "decoder_start_token_id": pad,
            "eos_token_id": EOS,
            "forced_eos_token_id": EOS,
            "init_std": round(1 / math.sqrt(case.config["d_model"]), 2),
        }
        | case.config
    )


def make_model(case, seed):
    """A MarianMTModel in float32 whose weights have already gone through the precision they will be stored in."""
    config = make_config(case)
    model = MarianMTModel(config).eval()
    model.generation_config = GenerationConfig.from_dict(make_generation(case, config))
    random = np.random.default_rng([seed, sum(case.name.encode())])
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            if name.endswith("embed_positions.weight") or name == "final_logits_bias":
                continue
            shape = tuple(tensor.shape)
            if name.endswith("layer_norm.weight"):
                # Both signs, or the residual path makes a tied model repeat its last token for ever.
                values = random.uniform(0.4, 1.6, shape) * random.choice([-1, 1], shape)
            elif name.endswith(".bias"):
                values = random.normal(0, 0.25, shape)
            elif name.endswith(("shared.weight", "embed_tokens.weight", "lm_head.weight")):
                # Rows of one length, or the longest ones win every argmax.
                values = random.normal(0, 1, shape)
                values *= math.sqrt(config.d_model) / np.linalg.norm(values, axis=1, keepdims=True)
            else:
                values = random.normal(0, config.init_std, shape)
            # Tied tensors are one storage: the name that comes last gives the values.
            tensor.copy_(torch.from_numpy(values).to(case.dtype))
        model.final_logits_bias.copy_(balanced_logits_bias(model, random, case.eos_rate).to(case.dtype))
    return model


def balanced_logits_bias(model, random, eos_rate):
    """The bias that gives all ids a similar chance, and the end token `eos_rate` of the steps: rows of various lengths."""
    vocabulary, pad = model.lm_head.out_features, model.config.pad_token_id
    sources = torch.from_numpy(random.integers(1, pad, (32, 6)))
    targets = torch.from_numpy(random.integers(1, min(pad, vocabulary), (32, 12)))
    targets[:, 0] = model.config.decoder_start_token_id
    output = model(sources, attention_mask=torch.ones_like(sources), decoder_input_ids=targets)
    logits = output.logits.reshape(-1, vocabulary)
    bias = torch.from_numpy(random.normal(0, 0.3, vocabulary)).float() - logits.mean(0)
    logits += bias
    others = logits.clone()
    others[:, [EOS, pad]] = -math.inf
    shortfall = (others.amax(1) - logits[:, EOS]).sort().values
    bias[EOS] += shortfall[int(eos_rate * len(shortfall))]
    return ((bias * 16).round() / 16)[None]  # rounded: what is stored must not hang on the last bits of this processor


def make_generation(case, config):
    generation = {
        "pad_token_id": config.pad_token_id,
        "decoder_start_token_id": config.decoder_start_token_id,
        "eos_token_id": EOS,
        "forced_eos_token_id": config.forced_eos_token_id,
        "bad_words_ids": [[config.pad_token_id]],
        "max_length": 16,
    } | case.generation
    return {key: value for key, value in generation.items() if value is not None}


def write_checkpoint(case, model, folder):
    folder.mkdir(parents=True)
    if case.old_writer:
        write_checkpoint_of_old_writer(model, folder)
    else:
        sharding = {"max_shard_size": case.max_shard_size} if case.max_shard_size else {}
        model.to(case.dtype).save_pretrained(folder, **sharding)
        model.float()
    if case.tokenizer:
        case.tokenizer.write(folder, case.separate_vocabs)


def write_checkpoint_of_old_writer(model, folder):
    """As transformers 4 wrote it: other members of the tied group, position tables, generation keys in config.json."""
    tensors = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    del tensors["model.shared.weight"]
    assert {"lm_head.weight", "model.encoder.embed_tokens.weight", "model.encoder.embed_positions.weight"} <= set(tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = model.config
    kept = (
        "activation_function d_model decoder_attention_heads decoder_ffn_dim decoder_layers decoder_start_token_id "
        "encoder_attention_heads encoder_ffn_dim encoder_layers eos_token_id forced_eos_token_id init_std "
        "max_position_embeddings pad_token_id scale_embedding vocab_size"
    ).split()
    generation = model.generation_config.to_diff_dict()
    write_json(
        folder / "config.json",
        {key: getattr(config, key) for key in kept}
        | {key: generation[key] for key in ("bad_words_ids", "max_length", "num_beams")}
        | {
            "_name_or_path": "",
            "_num_labels": 3,
            "activation_dropout": 0.0,
            "add_bias_logits": False,
            "add_final_layer_norm": False,
            "architectures": ["MarianMTModel"],
            "attention_dropout": 0.0,
            "bos_token_id": 0,
            "classif_dropout": 0.0,
            "decoder_layerdrop": 0.0,
            "decoder_vocab_size": config.vocab_size,
            "dropout": 0.1,
            "encoder_layerdrop": 0.0,
            "extra_pos_embeddings": config.vocab_size,
            "force_bos_token_to_be_generated": False,
            "id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"},
            "is_encoder_decoder": True,
            "label2id": {"LABEL_0": 0, "LABEL_1": 1, "LABEL_2": 2},
            "model_type": "marian",
            "normalize_before": False,
            "normalize_embedding": False,
            "num_hidden_layers": config.encoder_layers,
            "share_encoder_decoder_embeddings": True,
            "static_position_embeddings": True,
            "torch_dtype": "float32",
            "transformers_version": "4.22.0.dev0",
            "use_cache": True,
        },
    )


def load_checkpoint(folder):
    """The oracle: what is stored, in float32, with plain attention; nothing may be missing or left over."""
    model, info = MarianMTModel.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True
    )
    assert not info["missing_keys"] and not info["unexpected_keys"] and not info["mismatched_keys"], info
    return model.eval()


# ------------------------------------------------------------------------------------------------------------ what is expected


def make_rows(case, model, seed):
    """Source rows and decoder rows of `forward`, every decoder row beginning with the start token."""
    config = model.config
    random = np.random.default_rng([seed, 7])
    pad = config.pad_token_id
    target_vocabulary = model.lm_head.out_features
    sources = []
    for length in SOURCE_LENGTHS:
        row = random.integers(1, pad, length).tolist()
        row[-1] = EOS if length > 1 else row[-1]
        sources.append(row)
    if case.pad_inside_source:
        sources[1][3] = sources[3][0] = pad
    if case.tokenizer:
        tokenizer = MarianTokenizer.from_pretrained(case.model_folder)
        sources = [tokenizer(line).input_ids for line in GENERATE_LINES[:4]]
    targets = []
    for length in TARGET_LENGTHS:
        targets.append([config.decoder_start_token_id] + random.integers(1, target_vocabulary, length - 1).tolist())
    targets[0][2] = EOS  # an end token in the middle is an ordinary input
    return sources, targets


def pad_rows(rows, filler):
    length = max(map(len, rows))
    ids = torch.tensor([row + [filler] * (length - len(row)) for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (length - len(row)) for row in rows])
    return ids, mask


@torch.no_grad()
def run_forward(model, sources, targets):
    """One padded batch with explicit masks. Returns the nodes (padded), in graph order; the last one holds the logits."""
    nodes = {}
    handles = []

    def on_output(module, name, scale=None):
        def hook(_, __, output):
            output = output[0] if isinstance(output, tuple) else output
            nodes[name] = output if scale is None else output * scale

        handles.append(module.register_forward_hook(hook))

    def on_input(module, name):
        handles.append(module.register_forward_pre_hook(lambda _, args: nodes.update({name: args[0]})))

    for side, stack in ("encoder", model.model.encoder), ("decoder", model.model.decoder):
        on_output(stack.embed_tokens, f"{side}.embedding", stack.embed_scale)
        on_input(stack.layers[0], f"{side}.positional_encoding")
        for i, layer in enumerate(stack.layers):
            on_output(layer.self_attn, f"{side}.{i}.self_attention")
            on_output(layer.self_attn_layer_norm, f"{side}.{i}.self_attention_norm")
            if side == "decoder":
                on_output(layer.encoder_attn, f"{side}.{i}.cross_attention")
                on_output(layer.encoder_attn_layer_norm, f"{side}.{i}.cross_attention_norm")
            on_output(layer.fc2, f"{side}.{i}.feed_forward")
            on_output(layer.final_layer_norm, f"{side}.{i}.feed_forward_norm")

    source_ids, source_mask = pad_rows(sources, model.config.pad_token_id)
    target_ids, target_mask = pad_rows(targets, model.config.pad_token_id)
    output = model(
        input_ids=source_ids,
        attention_mask=source_mask,
        decoder_input_ids=target_ids,
        decoder_attention_mask=target_mask,
        use_cache=False,
    )
    for handle in handles:
        handle.remove()
    nodes["output_projection"] = output.logits
    return nodes


def pack(nodes, sources, targets):
    """The rows of all sequences one after another, without the padding."""
    packed = {}
    for name, values in nodes.items():
        rows = sources if name.startswith("encoder.") else targets
        packed[name] = torch.cat([values[b, : len(row)] for b, row in enumerate(rows)]).contiguous()
    return packed


def zero_padding(values, rows):
    return torch.stack([torch.cat([v[: len(row)], torch.zeros_like(v[len(row) :])]) for v, row in zip(values, rows)])


@dataclass
class Greedy:
    ids: list  # new ids: no start token, the end token kept
    score: float
    reached_end: bool  # of max_length
    gap: float  # the smallest distance between the best and the second best score of a free step


@torch.no_grad()
def run_greedy(model, source, **overrides):
    """transformers' greedy search of one source alone, with the checkpoint's generation config."""
    output = model.generate(
        torch.tensor([source]),
        attention_mask=torch.ones(1, len(source), dtype=torch.long),
        num_beams=1,
        do_sample=False,
        return_dict_in_generate=True,
        output_scores=True,
        output_logits=True,
        **overrides,
    )
    ids = output.sequences[0, 1:].tolist()
    score, gap = 0.0, float("inf")
    for token, scores, logits in zip(ids, output.scores, output.logits):
        score += torch.log_softmax(logits[0].double(), dim=-1)[token].item()
        if torch.isfinite(scores[0]).sum() == 1:  # a forced token: there was no choice
            continue
        best, second = scores[0].topk(2).values.tolist()
        gap = min(gap, best - second)
    settings = model.generation_config
    limit = overrides.get("max_length") or settings.max_length or 21
    if settings.max_new_tokens:
        limit = settings.max_new_tokens + 1
    return Greedy(ids, score, len(ids) == limit - 1, gap)


def is_usable(greedy):
    """Lengths and ids vary, some rows end by themselves, one runs to the limit, nothing hangs on the last bits."""
    return (
        len({len(g.ids) for g in greedy}) >= 3
        and any(g.reached_end for g in greedy)
        and sum(not g.reached_end and len(g.ids) > 2 for g in greedy) >= 2
        and max(len(set(g.ids)) for g in greedy) >= 5
        and len({token for g in greedy for token in g.ids}) >= 7
        and min(g.gap for g in greedy) > 1e-2
    )


def add_bad_phrases(model, sources):
    """Bans a pair and a triple that greedy search would write, and makes sure that both bans change something."""
    settings = model.generation_config
    for length, b in (2, 0), (3, 1), (3, 2):
        before = run_greedy(model, sources[b]).ids
        free = [p for p in range(1, len(before) - length) if EOS not in before[p : p + length]]
        if not free:
            return False
        settings.bad_words_ids = settings.bad_words_ids + [before[free[-1] : free[-1] + length]]
        if run_greedy(model, sources[b]).ids == before:
            return False
    return True


def settings_matter(case, model, sources, greedy):
    """Each unusual generation key of the case changes at least one row, and each end token ends one by itself."""
    ends = case.generation.get("eos_token_id", [])
    if not all(any(g.ids[-1] == end and not g.reached_end for g in greedy) for end in ends):
        return False
    neutral = {"min_length": 0, "min_new_tokens": 0, "forced_bos_token_id": None, "eos_token_id": EOS}
    for key in set(case.generation) & set(neutral):
        settings = model.generation_config
        value = getattr(settings, key)
        setattr(settings, key, neutral[key])
        same = all(run_greedy(model, source).ids == g.ids for source, g in zip(sources, greedy))
        setattr(settings, key, value)
        if same:
            return False
    return True


def find_model(case):
    """Tries seeds until greedy search is worth testing."""
    for seed in range(case.seed, case.seed + 2000):
        model = make_model(case, seed)
        sources, targets = make_rows(case, model, seed)
        if case.bad_phrases and not add_bad_phrases(model, sources):
            continue
        greedy = [run_greedy(model, source) for source in sources]
        if is_usable(greedy) and settings_matter(case, model, sources, greedy):
            return model, sources, targets, seed
    raise RuntimeError(f"{case.name}: no usable seed")


# ----------------------------------------------------------------------------------------- checks of the expected values


def difference(a, b):
    return ((a - b).abs().max() / b.abs().max()).item()


def check_padding(model, nodes, sources, targets):
    for b, (source, target) in enumerate(zip(sources, targets)):
        alone = run_forward(model, [source], [target])["output_projection"][0]
        worst = (alone - nodes["output_projection"][b, : len(target)]).abs().max().item()
        assert worst <= 1e-5, f"row {b}: padding changes the logits by {worst}"


def check_precision(model, packed, sources, targets):
    """Against the same model in float64. Returns the worst relative difference of a node."""
    exact = pack(run_forward(model.double(), sources, targets), sources, targets)
    model.float()
    worst = max(difference(packed[name].double(), exact[name]) for name in exact)
    assert worst < 5e-6, f"badly conditioned: {worst}"
    return worst


@torch.no_grad()
def check_every_tensor_matters(model, logits, sources, targets):
    """Taking any stored tensor away changes the logits. (Not the key bias: softmax cancels it.)"""
    weakest = float("inf")
    for name, tensor in model.state_dict().items():
        if name.endswith("k_proj.bias") or (name == "model.shared.weight" and not model.config.tie_word_embeddings):
            continue
        kept = tensor.clone()
        tensor.fill_(1.0 if name.endswith("norm.weight") else 0.0)
        change = difference(run_forward(model, sources, targets)["output_projection"], logits)
        tensor.copy_(kept)
        assert change > 1e-3, f"{name} hardly matters: {change}"
        weakest = min(weakest, change)
    return weakest


@torch.no_grad()
def check_masks_matter(model, nodes, sources, targets):
    """Attending to the padding, or to the future, would be seen."""
    pad = model.config.pad_token_id
    source_ids, _ = pad_rows(sources, pad)
    for b, target in enumerate(targets):
        if len(sources[b]) == source_ids.shape[1]:
            continue
        unmasked = run_forward(model, [source_ids[b].tolist()], [target])["output_projection"][0]
        assert difference(unmasked, nodes["output_projection"][b, : len(target)]) > 1e-3, f"row {b}: the mask is not seen"
        if len(target) > 1:
            changed = target[:-1] + [(target[-1] + 3) % pad]
            after = run_forward(model, [sources[b]], [changed])["output_projection"][0]
            before = nodes["output_projection"][b, : len(target)]
            assert difference(after[-1], before[-1]) > 1e-3 and difference(after[:-1], before[:-1]) < 1e-5


# ------------------------------------------------------------------------------------------------------------------ tokenizers

SOURCE_TEXT = """
The cat sat on the mat. The dog sat near the door. A small bird sings in the old tree every morning.
We are going to the market to buy bread, milk and cheese. How much is the fish today?
I have seen the sea, the mountains and the river. She said that he would come back tomorrow.
Where is the train station, please? It is on the left, behind the church. Thank you very much!
Does this bus go to the city? No, you have to change at the next stop. My name is Anna; what is yours?
In 2019 there were 48 houses here, and 37 of them had a garden. The price is 15.60 per box (not 20).
"Hello world", they say, when a new program runs for the first time. It's a quick test, isn't it?
Open the window: the room is too warm. Quiet, please! The children sleep. Just give me five minutes.
The answer to the question was not in the book, so we asked the teacher. He knew more than the book.
"""

TARGET_TEXT = """
Le chat était assis sur le tapis. Le chien était près de la porte. Un petit oiseau chante dans le vieil arbre.
Nous allons au marché pour acheter du pain, du lait et du fromage. Combien coûte le poisson aujourd'hui ?
J'ai vu la mer, les montagnes et la rivière. Elle a dit qu'il reviendrait demain. Ça va très bien, merci !
Wo ist der Bahnhof, bitte? Er ist links, hinter der Kirche. Vielen Dank! Die Straße heißt Königsweg.
Fährt dieser Bus in die Stadt? Nein, Sie müssen umsteigen. Ich heiße Anna; wie heißen Sie? Schöne Grüße!
Les garçons ont reçu une boîte à la fête de Noël. « Bonjour le monde », dit-il. Où est la forêt ?
Die Kinder schlafen. Öffnen Sie das Fenster: im Zimmer ist es zu warm. Über den Fluß führt eine Brücke.
Привет, как дела? Это мой дом. Привет, это кот и дом. Там мост, а тут река. Как это?
"""

LANGUAGE_CODES = [">>fra<<", ">>deu<<"]

GENERATE_LINES = [
    "The cat sat on the mat.",
    "a",
    ">>fra<< Where is the train station, please?",
    "Hello world",
    "  two  spaces \u00e9 ",
    "A small bird sings.",
    "The answer was not in the book, so we asked.",
    "\u4f60\u597d",
]

HARD_TEXTS = [
    "The cat sat on the mat.",
    "",
    " ",
    "   ",
    "a",
    "Hello  world",
    "  leading spaces",
    "trailing spaces   ",
    "\ttabs\tand  spaces\t",
    "new\nlines\r\nhere\n",
    "no\u00a0break\u2003em\u3000wide spaces",
    "zero\u200bwidth\u200cnon\u200djoiner\ufeffmark",
    "soft\u00adhyphen",
    "\ufb01sh and \ufb02ag, \ufb03",
    "\uff21\uff42\uff43\uff11\uff12\uff13\uff01",
    "caf\u00e9 cafe\u0301 nai\u0308ve",
    "e\u0301\u0301\u0323 stacked",
    "\u00bd \u2460 \u2122 \u2026 \u33a2",
    "don't isn't \u2019quoted\u2019 \u201cdouble\u201d",
    "15.60 and 2019abc x1y2",
    "\u4f60\u597d\u4e16\u754c",
    "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8\u3067\u3059\u3002",
    "\uff76\uff9e\uff77\uff9e half width kana",
    "\u1112\u1161\u11ab\uae00 jamo",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043a\u0430\u043a \u0434\u0435\u043b\u0430?",
    "\u043c the \u0434\u043e\u043c",
    "\u043c \u0436 \u043c\u043c \u043c\u0436",
    "\u00e9 \u00df \u00fc\u00fc \u00e7a",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 family",
    "\U0001f600\U0001f601 \U0001f602",
    "\U0001f1eb\U0001f1f7 flag \U0001f44d\U0001f3fd",
    "QZQZ @@## zzz",
    "\u2603\u2603\u2603",
    "a\u2603b\u2603\u2603c",
    "</s>",
    "one</s>two",
    "one </s> two",
    "</s></s>",
    "<pad>",
    "one <pad> two<pad>",
    "<unk>",
    "the <unk> cat",
    "the<unk>cat",
    "<unk> <unk>",
    "<s> begin",
    "</s",
    "<</s>>",
    "<pad</s>",
    "<mask>",
    ">>fra<< The cat",
    ">>fra<<The cat",
    ">>fra<<",
    ">>fra<<   ",
    ">>deu<< >>fra<< two codes",
    " >>fra<< leading space",
    ">>xyz<< unknown code",
    ">>any words at all<< text",
    ">><<empty code",
    ">>open code",
    ">> spaces << inside",
    "text >>fra<< in the middle",
    "</s>>>fra<< after a special token",
    "<unk> >>fra<< after a special token and a space",
    "\u2581the \u2581 cat",
    "the\u2581cat",
    "\u2581\u2581",
    " \u2047 ",
    "nul\u0000inside",
    "\u0001\u0002control\u007f\u0085\u009f",
    "\u2028line\u2029paragraph",
    "\ue000private\U000f0000 use",
    "\ufffd replacement \uffff",
    "the" * 60,
    "Donaudampfschifffahrtsgesellschaft" * 4,
    "x" * 300,
    "The cat " * 40,
    "THE CAT IN CAPITALS",
    "The cat sat on the mat. \u00c9t\u00e9 \u4f60 </s> >>fra<< \U0001f600  end ",
]


def train_sentencepiece(text, vocab_size):
    """A unigram model with the default nmt_nfkc normalisation. No file names get into it."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([line for line in text.strip().splitlines()] * 3),
        model_writer=model,
        model_type="unigram",
        vocab_size=vocab_size,
        character_coverage=1.0,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
    )
    return model.getvalue()


class Tokenizers:
    """A source and a target sentencepiece model, and the vocabularies made from their pieces.

    As in published models the ids are those of vocab.json, not those of sentencepiece. On purpose vocab.json lacks some
    source pieces (they must become <unk>) and, where it is shared, has pieces that only the target model knows.
    """

    def __init__(self):
        self.source = train_sentencepiece(SOURCE_TEXT, 100)
        self.target = train_sentencepiece(TARGET_TEXT, 125)
        source_pieces, target_pieces = self.pieces(self.source), self.pieces(self.target)
        long_pieces = [piece for piece in source_pieces if len(piece) > 2]
        source_pieces = [piece for piece in source_pieces if piece not in (long_pieces[1], long_pieces[4], "?")]
        both = source_pieces + [piece for piece in target_pieces if piece not in source_pieces]
        self.shared_vocabulary = self.number(both + LANGUAGE_CODES)
        self.source_vocabulary = self.number(source_pieces + LANGUAGE_CODES)
        self.target_vocabulary = self.number(list(reversed(target_pieces)))
        assert len(self.source_vocabulary) < len(self.target_vocabulary)

    @staticmethod
    def pieces(model):
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        return [processor.id_to_piece(i) for i in range(processor.get_piece_size()) if i > 2]

    @staticmethod
    def number(pieces):
        return {piece: i for i, piece in enumerate(["</s>", "<unk>"] + pieces + ["<pad>"])}

    def write(self, folder, separate):
        (folder / "source.spm").write_bytes(self.source)
        (folder / "target.spm").write_bytes(self.target)
        write_json(folder / "vocab.json", self.source_vocabulary if separate else self.shared_vocabulary)
        if separate:
            write_json(folder / "target_vocab.json", self.target_vocabulary)
        MarianTokenizer(
            source_spm=str(folder / "source.spm"),
            target_spm=str(folder / "target.spm"),
            vocab=str(folder / "vocab.json"),
            target_vocab_file=str(folder / "target_vocab.json") if separate else None,
            source_lang="eng",
            target_lang="mul",
            separate_vocabs=separate,
        ).save_pretrained(folder)


def decode_cases(tokenizer, vocabulary):
    """Id lists that a decoder may produce, and some that it should not."""

    def ids(*pieces):
        return [vocabulary[piece] for piece in pieces]

    word = [piece for piece in vocabulary if piece.startswith("\u2581") and len(piece) > 2]
    inner = [piece for piece in vocabulary if piece.isalpha()]
    last = len(vocabulary) - 1
    random = np.random.default_rng(11)
    lists = [
        [],
        ids("</s>"),
        ids(word[0], "</s>"),
        ids(word[0], word[1], inner[0], "."),
        ids(inner[0], inner[1], word[2], "</s>"),
        ids("\u2581"),
        ids("\u2581", "\u2581", word[0], "</s>"),
        ids("\u2581", inner[0], "\u2581", "\u2581", inner[1], "\u2581", "</s>"),
        ids(word[0], "\u2581", "\u2581", "\u2581"),
        ids("<unk>"),
        ids(word[0], "<unk>", word[1], "</s>"),
        ids("<unk>", inner[0], "<unk>", "<unk>", inner[1]),
        ids(word[0], "</s>", word[1], inner[2]),
        ids(inner[0], "</s>", "\u2581", "</s>", inner[1]),
        ids("<pad>", word[0], "<pad>", inner[0], "</s>", "<pad>", "<pad>"),
        ids(word[0], ".", "\u2581", ",", "\u2581", "."),
        list(range(len(vocabulary))),
        list(range(last, -1, -1)),
    ]
    if LANGUAGE_CODES[0] in vocabulary:
        lists += [ids(LANGUAGE_CODES[0], word[0]), ids(word[0], LANGUAGE_CODES[1], LANGUAGE_CODES[0], inner[0], "</s>")]
    lists += [random.integers(0, len(vocabulary), n).tolist() for n in (1, 2, 3, 5, 8, 13, 40)]
    return [[row, tokenizer.decode(row, skip_special_tokens=True)] for row in lists]


def write_expected_tokenizer(case, model, path):
    tokenizer = MarianTokenizer.from_pretrained(case.model_folder)
    target_vocabulary = tokenizer.target_encoder if case.separate_vocabs else tokenizer.encoder
    encode = [
        {"text": text, "ids": tokenizer(text).input_ids, "target_ids": tokenizer(text_target=text).input_ids}
        for text in HARD_TEXTS
    ]
    generate = []
    for line in GENERATE_LINES:
        greedy = run_greedy(model, tokenizer(line).input_ids)
        assert greedy.gap > 1e-3, (case.name, line)
        generate.append({"text": line, "output": tokenizer.decode(greedy.ids, skip_special_tokens=True)})
    write_json(path, {"encode": encode, "decode": decode_cases(tokenizer, target_vocabulary), "generate": generate})


# ----------------------------------------------------------------------------------------------------------------------- cases


def sizes(d_model, layers, heads, ffn, vocab_size, **more):
    """layers, heads, ffn: encoder and decoder."""
    return {
        "d_model": d_model,
        "encoder_layers": layers[0],
        "decoder_layers": layers[1],
        "encoder_attention_heads": heads[0],
        "decoder_attention_heads": heads[1],
        "encoder_ffn_dim": ffn[0],
        "decoder_ffn_dim": ffn[1],
        "vocab_size": vocab_size,
    } | more


def make_cases():
    tokenizers = Tokenizers()
    text_size = len(tokenizers.shared_vocabulary)
    source_size, target_size = len(tokenizers.source_vocabulary), len(tokenizers.target_vocabulary)
    return [
        # The published models' shape in small; pad is also an ordinary source token here.
        Case(
            "shared_swish",
            sizes(16, (2, 2), (4, 4), (24, 24), 29, activation_function="swish", scale_embedding=True),
            pad_inside_source=True,
        ),
        Case(
            "separate_vocabulary",
            sizes(20, (1, 2), (4, 5), (28, 36), 23, activation_function="swish", scale_embedding=True)
            | {"share_encoder_decoder_embeddings": False, "decoder_vocab_size": 31},
        ),
        # Nothing divides by anything: head sizes 5 and 3, an odd sinusoid.
        Case(
            "odd_sizes",
            sizes(15, (3, 1), (3, 5), (37, 29), 37, activation_function="relu", scale_embedding=False),
        ),
        Case(
            "gelu_sharded",
            sizes(24, (1, 1), (3, 6), (50, 40), 41, activation_function="gelu", scale_embedding=False),
            generation={"min_new_tokens": 5},
            max_shard_size="8KB",
        ),
        # No length in generation_config.json at all: 20 new ids.
        Case(
            "gelu_new_float16",
            sizes(16, (1, 2), (2, 4), (40, 24), 30, activation_function="gelu_new", scale_embedding=True),
            generation={"max_length": None},
            dtype=torch.float16,
        ),
        Case(
            "silu_bfloat16",
            sizes(12, (2, 1), (2, 3), (32, 20), 26, activation_function="silu", scale_embedding=True),
            generation={"max_length": None, "max_new_tokens": 11},
            dtype=torch.bfloat16,
        ),
        # Four tables, and no forced end token: rows that run to max_length have none.
        Case(
            "untied",
            sizes(16, (1, 1), (4, 2), (24, 32), 33, activation_function="swish", scale_embedding=True)
            | {"tie_word_embeddings": False, "forced_eos_token_id": None},
            generation={"max_length": 14},
        ),
        Case(
            "old_names",
            sizes(16, (1, 1), (4, 4), (32, 32), 28, activation_function="swish", scale_embedding=True),
            generation={"max_length": 18, "num_beams": 4},
            old_writer=True,
        ),
        Case(
            "forced_bos",
            sizes(16, (1, 2), (2, 4), (24, 24), 31, activation_function="relu", scale_embedding=True),
            generation={"forced_bos_token_id": 4, "min_length": 6, "eos_token_id": [EOS, 5], "max_length": 20},
            bad_phrases=True,
        ),
        Case(
            "text",
            sizes(16, (1, 1), (2, 2), (32, 32), text_size, activation_function="swish", scale_embedding=True),
            generation={"max_length": 24, "num_beams": 4},
            tokenizer=tokenizers,
        ),
        Case(
            "text_separate",
            sizes(12, (1, 1), (2, 2), (24, 24), source_size, activation_function="swish", scale_embedding=True)
            | {"share_encoder_decoder_embeddings": False, "decoder_vocab_size": target_size},
            generation={"max_length": 24, "num_beams": 6},
            tokenizer=tokenizers,
            separate_vocabs=True,
        ),
    ]


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def write_case(case, folder):
    case.model_folder = folder / "model"
    if case.tokenizer:  # make_rows needs it
        case.model_folder.mkdir(parents=True)
        case.tokenizer.write(case.model_folder, case.separate_vocabs)
    model, sources, targets, seed = find_model(case)
    shutil.rmtree(folder, ignore_errors=True)
    write_checkpoint(case, model, case.model_folder)

    model = load_checkpoint(case.model_folder)
    nodes = run_forward(model, sources, targets)
    packed = pack(nodes, sources, targets)
    greedy = [run_greedy(model, source) for source in sources]
    assert is_usable(greedy)
    check_padding(model, nodes, sources, targets)
    check_masks_matter(model, nodes, sources, targets)
    weakest = check_every_tensor_matters(model, nodes["output_projection"], sources, targets)
    error = check_precision(model, packed, sources, targets)

    last = f"encoder.{model.config.encoder_layers - 1}.feed_forward_norm"
    expected = {f"nodes/{name}": values for name, values in packed.items()} | {
        "source_ids": pad_rows(sources, -1)[0].int(),
        "target_ids": pad_rows(targets, -1)[0].int(),
        "encoder_last_hidden_state": zero_padding(nodes[last], sources),
        "logits": zero_padding(nodes["output_projection"], targets),
        "greedy_ids": pad_rows([g.ids for g in greedy], -1)[0].int(),
        "greedy_scores": torch.tensor([g.score for g in greedy], dtype=torch.float32),
    }
    save_file(expected, folder / "expected.safetensors")
    if case.tokenizer:
        write_expected_tokenizer(case, model, folder / "expected_tokenizer.json")
    files = [path for path in folder.rglob("*") if path.is_file()]
    for path in files:
        path.chmod(0o644)
    size = sum(path.stat().st_size for path in files if path.suffix != ".spm")
    print(
        f"{case.name:20} seed {seed:4}  new ids {[len(g.ids) for g in greedy]}  smallest gap {min(g.gap for g in greedy):.3f}  "
        f"error {error:.1e}  weakest tensor {weakest:.1e}  {size // 1024} KiB",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description="Makes the golden test data.")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "marian")
    parser.add_argument("--only", nargs="*", help="names of cases; default: all, and nothing else is left in the folder")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    if not arguments.only:
        shutil.rmtree(arguments.output, ignore_errors=True)
    for case in make_cases():
        if not arguments.only or case.name in arguments.only:
            shutil.rmtree(arguments.output / case.name, ignore_errors=True)
            write_case(case, arguments.output / case.name)


if __name__ == "__main__":
    main()
