#!/usr/bin/env python3
"""Trains the bundled speech model: spoken English numbers and commands in, their words out, as a Whisper checkpoint folder.

Steps (all by default; --steps runs single ones):
  data      speaks random texts with espeak-ng in many voices (speech_corpus.py)
  tokenizer trains the tokenizer on these texts
  train     trains an encoder-decoder Transformer; saves now and then, and a rerun resumes there
  export    writes config, weights, tokenizer and example clips in the format of transformers' WhisperForConditionalGeneration
  evaluate  loads the exported folder with transformers, transcribes clips of voices not used in training, writes the model card
            (evaluate_speech.py)

The network is transformers' Whisper, with the English-only prompt and timestamps, and a window of 6 s instead of 30 s.
The synthesizer reports the time of each phoneme and its word. Training uses these times twice:
- A second, linear output predicts the phoneme at each encoder position. It is not exported.
- Two heads of the decoder are trained to attend to the word being written (guided attention). They become the alignment heads.
With them the model learns in minutes what would take hours with the decoder's loss alone.

With the defaults, one H200 GPU and 15 worker processes, data and training take ten minutes. The data depend on --seed, not on --workers.

Made with Python 3.11, the library of Debian's espeak-ng 1.51 (libespeak-ng1) and
  pip install numpy==2.4.6 safetensors==0.8.0 tokenizers==0.23.3 torch==2.15.0 transformers==5.23.0
"""

import argparse
import copy
import functools
import json
import math
import multiprocessing
import os
import random
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from evaluate_speech import evaluate
from speech_corpus import (
    SAMPLE_RATE, WINDOW, WINDOW_SECONDS, Espeak, not_speech, random_noise, random_utterance, word_starts, write_wave)

HOP = 160  # samples per frame
FRAMES = WINDOW // HOP
TIME_STEP = 0.02  # seconds from one timestamp to the next
TIMESTAMPS = round(WINDOW_SECONDS / TIME_STEP) + 1
POSITIONS = FRAMES // 2  # encoder positions, TIME_STEP apart
LATEST_START = 3.0  # maximum of a window's first timestamp, in seconds
MAX_TARGET = 96
GUIDED_HEADS = 2  # the first heads of the last decoder layer
PAUSE_LOOK = 0.15  # share of guided attention in the pause after a word
BATCHES = 8  # batches composed together, which allows batches of examples of similar length
NOT_COUNTED = -100  # target id of positions that the loss skips

# ---- tokenizer --------------------------------------------------------------------------------------------------------------------

EOT, SOT = "<|endoftext|>", "<|startoftranscript|>"
SPECIAL = [EOT, SOT, "<|en|>", "<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>"]


def train_tokenizer(work, options):
    """Writes the tokenizer: --pieces pieces of a byte-level byte pair encoding, Whisper's special tokens in their order, the timestamps."""
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, trainers
    from transformers import WhisperTokenizer

    texts = [text for text, *_ in json.loads((work / "train_items.json").read_text(encoding="utf-8"))]
    # Makes each letter with a space before it a piece. Otherwise a word could begin with a lone space, which Whisper forbids.
    lessons = texts + len(texts) * [" ".join("abcdefghijklmnopqrstuvwxyz")]
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    learner.train_from_iterator((" " + text for text in lessons), trainers.BpeTrainer(
        vocab_size=options.pieces, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    model = json.loads(learner.to_str())["model"]
    vocabulary = dict(model["vocab"])
    vocabulary[EOT] = len(vocabulary)
    tokenizer = WhisperTokenizer(
        vocab=vocabulary, merges=[tuple(pair) for pair in model["merges"]], pad_token=EOT, additional_special_tokens=SPECIAL[1:],
        model_max_length=MAX_TARGET)
    tokenizer.add_tokens([AddedToken(f"<|{i * TIME_STEP:.2f}|>", normalized=False, special=False) for i in range(TIMESTAMPS)])
    tokenizer.save_pretrained(work / "tokenizer")
    encode_text = Tokens(work).text
    encoded = [encode_text(text) for text in set(texts)]
    assert not any(vocabulary["Ġ"] in ids for ids in encoded)
    print(f"{len(tokenizer)} tokens, at most {max(map(len, encoded))} a text", flush=True)


class Tokens:
    """The token ids of training sequences."""

    def __init__(self, work):
        from transformers import WhisperTokenizer

        self.tokenizer = WhisperTokenizer.from_pretrained(work / "tokenizer")
        ids = self.tokenizer.convert_tokens_to_ids(SPECIAL)
        assert ids == list(range(ids[0], ids[0] + len(SPECIAL))), ids
        self.eot, self.sot, _, _, _, _, self.previous, self.no_speech, self.no_timestamps = ids
        self.first_time = self.no_timestamps + 1
        self.vocabulary_size = self.first_time + TIMESTAMPS
        assert len(self.tokenizer) == self.vocabulary_size, len(self.tokenizer)
        self.text = functools.cache(lambda text: tuple(self.tokenizer.encode(" " + text, add_special_tokens=False)))

    def spans(self, text, starts, end):
        """Returns, for each piece of the text, (start, end) of its word in seconds."""
        offsets = sorted(starts)
        result, position = [], -1  # the encoded text begins with a space, which the offsets in `starts` do not count
        for piece in map(self.tokenizer.convert_ids_to_tokens, self.text(text)):
            word = sum(offset <= position + (piece[0] == "Ġ") for offset in offsets) - 1
            begin = starts[offsets[max(0, word)]]
            result.append((begin, starts[offsets[word + 1]] if word + 1 < len(offsets) else end))
            position += len(piece)
        return result

    def at(self, seconds):
        return self.first_time + min(TIMESTAMPS - 1, round(seconds / TIME_STEP))


# ---- data -------------------------------------------------------------------------------------------------------------------------


def speak_chunk(seed, chunk, count):
    """Returns `count` utterances: [(text, voice, samples, phonemes)]."""
    rng = random.Random(f"{seed} {chunk}")
    utterances = [random_utterance(espeak(), rng) for _ in range(count)]
    return [(u["text"], u["voice"], np.round(u["samples"] * 32767).astype("<i2"), u["phonemes"]) for u in utterances]


espeak = functools.cache(Espeak)  # one in each process


def prepare_data(work, options):
    """Speaks all utterances. Writes train_audio.raw (all samples one after the other, 16 bits) and train_items.json."""
    items, begin, size = [], 0, 200
    chunks = [(options.seed, i, min(size, options.utterances - size * i)) for i in range(-(-options.utterances // size))]
    with open(work / "train_audio.tmp", "wb") as audio, multiprocessing.Pool(max(1, options.workers)) as pool:
        for job in [pool.apply_async(speak_chunk, chunk) for chunk in chunks]:
            for text, voice, samples, phonemes in job.get():
                audio.write(samples.tobytes())
                items.append((text, voice, begin, begin + len(samples), phonemes))
                begin += len(samples)
    os.replace(work / "train_audio.tmp", work / "train_audio.raw")
    (work / "train_items.json").write_text(json.dumps(items), encoding="utf-8")
    print(f"{len(items)} utterances, {begin / SAMPLE_RATE / 3600:.1f} h, {len({item[0] for item in items})} different texts, "
          f"{len({item[1] for item in items})} voices", flush=True)


class Examples(torch.utils.data.Dataset):
    """Training examples: windows of random utterances and noise, with their expected ids. An item is a list of BATCHES batches."""

    def __init__(self, work, options):
        self.items = json.loads((work / "train_items.json").read_text(encoding="utf-8"))
        self.items.sort(key=lambda item: item[3] - item[2])
        self.phonemes = phoneme_ids(self.items)
        self.audio = np.memmap(work / "train_audio.raw", "<i2", "r")
        self.tokens = Tokens(work)
        self.options = options
        self.rng = np.random.default_rng(options.seed)
        self.noises = [random_noise(self.rng, 2 * WINDOW).astype(np.float32) for _ in range(100)]

    def __len__(self):
        return self.options.updates // BATCHES

    def __getitem__(self, index):
        # Begins with short utterances: their steps take a fifth of the time. Uses whole windows now and then, and always at the end.
        self.rng = np.random.default_rng([self.options.seed, index])
        progress = index / len(self)
        ease = max(0.0, 0.9 - 6 * progress)
        trimmed = ease > 0 or (progress < 0.75 and self.rng.random() < 0.9)
        return list(self.batches(BATCHES, self.options.batch, ease, trimmed))

    def noise(self, count):
        begin = self.rng.integers(2 * WINDOW - count + 1)
        return self.noises[self.rng.integers(len(self.noises))][begin : begin + count]

    def utterance(self, ease=0.0):
        """Returns (text, samples, phonemes) of a random utterance among the shortest; 1 - ease is their share of all utterances."""
        text, _, begin, end, phonemes = self.items[self.rng.integers(max(1, int(len(self.items) * (1 - ease))))]
        return text, self.audio[begin:end], phonemes

    def rest_of_utterance(self):
        """Returns (text, samples, phonemes) of an utterance without its first words, as where a window begins in the middle of one."""
        text, speech, phonemes = self.utterance()
        words = sorted(word_starts(phonemes).items())[1:]
        if not words:
            return text, speech, phonemes
        offset, start = words[self.rng.integers(len(words))]
        return text[offset:], speech[int(start * SAMPLE_RATE) :], [
            (name, at - offset, begin - start) for name, at, begin in phonemes if at >= offset and begin >= start]

    def window(self, ease):
        """Returns (samples, [(text, start, end, phonemes)]). The end of the window may cut off the last utterance.

        With ease > 0, a window has one utterance, and a short one if `ease` is large.
        """
        rng = self.rng
        samples, segments = np.zeros(WINDOW, np.float32), []
        end = 0.0
        for _ in range(1 if ease else rng.choice(4, p=[0.4, 0.3, 0.2, 0.1]) + 1):
            cut = not ease and not segments and rng.random() < 0.1
            text, speech, phonemes = self.rest_of_utterance() if cut else self.utterance(ease)
            length = len(speech) / SAMPLE_RATE
            if segments:
                start = end + (rng.uniform(0.1, 0.3) if rng.random() < 0.2 else rng.uniform(0.3, 1.5))
            elif cut or (not ease and rng.random() < 0.3):
                start = rng.uniform(0, 0.04)  # after a window that ended here
            else:
                late = not ease and rng.random() < 0.15
                start = min(rng.uniform(0, LATEST_START if late else 0.3 if ease else 0.8), WINDOW_SECONDS - length)
            if start > WINDOW_SECONDS - 0.06 or (start + length > WINDOW_SECONDS and rng.random() < 0.3):
                break
            begin = int(start * SAMPLE_RATE)
            piece = speech[: WINDOW - begin]
            samples[begin : begin + len(piece)] = piece * np.float32(10 ** rng.uniform(-0.3, 0) / 32768)
            end = start + length
            segments.append((text, start, end, phonemes))
            if end > WINDOW_SECONDS:
                break
        content = min(WINDOW, int((end + rng.uniform(0, 0.3 if ease else 0.8)) * SAMPLE_RATE))
        if not ease and rng.random() < 0.15:
            content = WINDOW
        samples = samples[:content]
        if rng.random() < 0.65:
            level = np.sqrt((samples[samples != 0] ** 2).mean())
            samples = samples + self.noise(content) * np.float32(level * 10 ** (-rng.uniform(0, 35) / 20))
        return samples * np.float32(10 ** rng.uniform(-1.5, 0.3)), segments

    def prompt(self):
        """Returns the ids of a previous window's text, as in the transcription of a long file."""
        tokens, ids = self.tokens, []
        timed = self.rng.random() < 0.7
        for _ in range(self.rng.integers(1, 9)):
            text = tokens.text(self.utterance()[0])
            times = sorted(self.rng.integers(0, TIMESTAMPS, 2))
            ids += [tokens.first_time + times[0], *text, tokens.first_time + times[1]] if timed else text
        return [tokens.previous, *ids[-(MAX_TARGET // 2 - 1) :]]

    def example(self, ease):
        """Returns (samples, ids, expected id after each id, spans, phoneme at each encoder position).

        A span is (start, end, end of the pause after it), in seconds, of the sound that an expected id stands for, or None."""
        tokens, rng = self.tokens, self.rng
        prompt = self.prompt() if not ease and rng.random() < 0.45 else []
        phoneme_ids = np.zeros(POSITIONS, np.int64)
        if rng.random() < (0.02 if ease else 0.08):
            seconds = rng.uniform(0.2, 1) if ease else rng.choice([rng.uniform(0.2, WINDOW_SECONDS), WINDOW_SECONDS])
            samples = not_speech(rng, int(seconds * SAMPLE_RATE))
            # Without speech the text is empty, whichever token is forced after sot: no_timestamps or a time. All times are equally likely,
            # so that the mean log-probability is low, as Whisper's rule for silence wants it.
            forced = tokens.no_timestamps if rng.random() < 0.5 else tokens.at(rng.uniform(0, LATEST_START))
            first = forced if forced != tokens.no_timestamps and rng.random() < 0.2 else tokens.no_speech
            wanted = [NOT_COUNTED] * len(prompt) + [first, tokens.eot]
            return samples, [*prompt, tokens.sot, forced], wanted, [None] * len(wanted), phoneme_ids
        samples, segments = self.window(ease)
        timed = segments[-1][2] > WINDOW_SECONDS or rng.random() < 0.5
        ids, spans = ([], []) if timed else ([tokens.no_timestamps], [None])
        for (text, start, end, phonemes), (_, following, *_) in zip(segments, [*segments[1:], (None, len(samples) / SAMPLE_RATE)]):
            for (name, _, begin), (_, _, until) in zip(phonemes, [*phonemes[1:], (None, None, end - start)]):
                phoneme_ids[round((start + begin) / TIME_STEP) : round((start + until) / TIME_STEP)] = self.phonemes.get(name, 0)
            if timed:
                ids.append(tokens.at(start))
                spans.append((start - TIME_STEP, start + 2 * TIME_STEP, None))
            if end > WINDOW_SECONDS:
                break
            ids += tokens.text(text)
            spans += [(start + a, start + b, following if start + b >= end else None)
                      for a, b in tokens.spans(text, word_starts(phonemes), end - start)]
            if timed:
                ids.append(tokens.at(end))
                spans.append((end - 2 * TIME_STEP, end + TIME_STEP, None))
        wanted = [NOT_COUNTED] * len(prompt) + ids + [tokens.eot]
        spans = [None] * len(prompt) + spans + [None]
        ids = [*prompt, tokens.sot, *ids]
        return samples, ids[:MAX_TARGET], wanted[:MAX_TARGET], spans[:MAX_TARGET], phoneme_ids

    def batches(self, count, size, ease, trimmed):
        """Yields `count` batches of `size` examples. With `trimmed`, a batch has examples of similar length and a window that just fits."""
        examples = [self.example(ease) for _ in range(count * size)]
        if trimmed:
            examples.sort(key=lambda example: len(example[0]))
        groups = [examples[i : i + size] for i in range(0, len(examples), size)]
        self.rng.shuffle(groups)
        for group in groups:
            longest = max(len(samples) for samples, *_ in group)
            frames = min(FRAMES, 16 * math.ceil(longest / HOP / 16)) if trimmed else FRAMES
            yield self.batch(group, frames)

    def batch(self, group, frames):
        """Returns samples [B, frames * HOP] in 16 bits, their changes(), ids [B, T], expected ids [B, T], looks [B, T, frames / 2] and
        phonemes [B, frames / 2].

        looks[b, t] is the distribution over encoder positions that guided attention at expected id t should have, or 0. The pause after a
        word belongs to the word: in word times by dynamic time warping, a word then begins where it is spoken."""
        samples = torch.zeros(len(group), frames * HOP, dtype=torch.int16)
        length = max(len(ids) for _, ids, *_ in group)
        ids = torch.full((len(group), length), self.tokens.eot)
        wanted = torch.full((len(group), length), NOT_COUNTED)
        looks = torch.zeros(len(group), length, frames // 2)
        for row, (sound, row_ids, row_wanted, spans, _) in enumerate(group):
            samples[row, : len(sound)] = torch.from_numpy(np.clip(np.round(sound * 32767), -32768, 32767).astype("<i2"))
            ids[row, : len(row_ids)] = torch.tensor(row_ids)
            wanted[row, : len(row_wanted)] = torch.tensor(row_wanted)
            for look, span in zip(looks[row], spans):
                if span is not None:
                    begin, end = max(0, round(span[0] / TIME_STEP)), round(span[1] / TIME_STEP)
                    look[begin : max(begin + 1, end)] = 1
                    look /= max(1, look.sum())
                    if span[2] is not None and round(span[2] / TIME_STEP) > end:
                        pause = look[end : round(span[2] / TIME_STEP)]
                        look *= 1 - PAUSE_LOOK
                        pause += PAUSE_LOOK / max(1, len(pause))
        phoneme_ids = torch.from_numpy(np.stack([row_phoneme_ids[: frames // 2] for *_, row_phoneme_ids in group]))
        changes = self.changes([len(sound) // HOP for sound, *_ in group], frames)
        return samples, *changes, ids, wanted, looks.half(), phoneme_ids

    def changes(self, lengths, frames):
        """Returns random changes of log-mel features: a curve to add to each spectrum [B, 80, 1], how much louder the loudest frame of the
        file is [B, 1, 1], and factors 0 or 1 of bins [B, 80, 1] and frames [B, 1, frames]."""
        rng, batch, bins = self.rng, len(lengths), len(mel_filters())
        curve = torch.from_numpy(rng.normal(0, 0.25, (batch, 1, 6)).astype(np.float32))
        curve = F.interpolate(curve, size=bins, mode="linear", align_corners=True)
        louder = torch.from_numpy(((rng.random(batch) < 0.3) * rng.uniform(0, 1.5, batch)).astype(np.float32))
        bins_kept, frames_kept = torch.ones(batch, bins, 1), torch.ones(batch, 1, frames)
        for row, length in enumerate(lengths):
            if rng.random() < 0.25:
                frames_kept[row, :, length:] = 0  # as openai/whisper fills the last window of a file
            if rng.random() < 0.5:
                for _ in range(2):
                    begin = rng.integers(bins)
                    bins_kept[row, begin : begin + rng.integers(12)] = 0
                    begin = rng.integers(frames)
                    frames_kept[row, :, begin : begin + rng.integers(16)] = 0
        return curve.transpose(1, 2), louder[:, None, None], bins_kept, frames_kept


def log_mel(samples, curve, louder, bins_kept, frames_kept):
    """Returns log-mel [B, 80, frames] like WhisperFeatureExtractor's, with the given changes()."""
    window = torch.hann_window(400, device=samples.device)
    spectrum = torch.stft(samples.float() / 32768, 400, HOP, window=window, return_complex=True)[..., :-1]
    mel = (mel_filters().to(samples.device) @ (spectrum.real.square() + spectrum.imag.square())).clamp(min=1e-10).log10() + curve
    # Values are limited to 8 below the loudest frame. In a long file that frame may be outside of this window.
    mel = torch.maximum(mel, mel.amax((1, 2), keepdim=True) + louder - 8)
    return (mel + 4) / 4 * bins_kept * frames_kept


def phoneme_ids(items):
    """Returns {phoneme: number from 1}. Number 0 is everything else."""
    names = {name for *_, phonemes in items for name, _, _ in phonemes}
    return {name: i for i, name in enumerate(sorted(name for name in names if not name.startswith("_")), 1)}


@functools.cache
def mel_filters():
    return torch.from_numpy(feature_extractor().mel_filters.T).float().contiguous()


def feature_extractor():
    from transformers import WhisperFeatureExtractor

    return WhisperFeatureExtractor(chunk_length=WINDOW_SECONDS)


# ---- training ---------------------------------------------------------------------------------------------------------------------


def new_model(tokens, options):
    from transformers import WhisperConfig, WhisperForConditionalGeneration

    return WhisperForConditionalGeneration(WhisperConfig(
        vocab_size=tokens.vocabulary_size, num_mel_bins=80, d_model=options.dim, encoder_layers=options.encoder_layers,
        decoder_layers=options.decoder_layers, encoder_attention_heads=options.heads, decoder_attention_heads=options.heads,
        encoder_ffn_dim=options.hidden, decoder_ffn_dim=options.hidden, max_source_positions=FRAMES // 2,
        max_target_positions=MAX_TARGET, decoder_start_token_id=tokens.sot, bos_token_id=tokens.eot, eos_token_id=tokens.eot,
        pad_token_id=tokens.eot, suppress_tokens=None, begin_suppress_tokens=None, dropout=0.0, attention_dropout=0.0,
        activation_dropout=0.0))


def encode(model, features):
    """Runs the encoder on a window of any length. The encoder of transformers takes only whole windows."""
    encoder = model.model.encoder
    x = F.gelu(encoder.conv2(F.gelu(encoder.conv1(features)))).transpose(1, 2)
    x = x + encoder.embed_positions.weight[: x.shape[1]]
    for layer in encoder.layers:
        x = layer(x, attention_mask=None)
        x = x[0] if isinstance(x, tuple) else x
    return encoder.layer_norm(x)


class Decoder:
    """The model's decoder, which also keeps the cross-attention of its last layer."""

    def __init__(self, model):
        self.model = model
        config = copy.deepcopy(model.config)
        config._attn_implementation = "eager"  # fused attention does not return its weights
        for module in model.model.decoder.modules():
            if hasattr(module, "config"):
                module.config = config
        model.model.decoder.layers[-1].encoder_attn.register_forward_hook(self.keep)

    def keep(self, module, inputs, outputs):
        self.attention = outputs[1]

    def losses(self, memory, ids, wanted, looks):
        """Returns two cross-entropies: of the expected ids, and of the guided heads' attention."""
        states = self.model.model.decoder(input_ids=ids, encoder_hidden_states=memory, use_cache=False).last_hidden_state
        text = F.cross_entropy(self.model.proj_out(states).flatten(0, 1), wanted.flatten(), ignore_index=NOT_COUNTED)
        guided = (self.attention[:, :GUIDED_HEADS] + 1e-5).log() * looks[:, None]
        return text, -guided.sum() / (GUIDED_HEADS * (looks.sum(-1) > 0).sum())


def learning_rate(progress, options):
    """Returns the learning rate: linear warm-up over the first 4 %, then a cosine to zero. `progress` goes from 0 to 1."""
    warm_up = 0.04
    if progress < warm_up:
        return options.learning_rate * progress / warm_up
    return options.learning_rate * 0.5 * (1 + math.cos(math.pi * min(1, (progress - warm_up) / (1 - warm_up))))


def save_atomically(path, data):
    temporary = path.with_suffix(".tmp")
    torch.save(data, temporary)
    os.replace(temporary, path)


def train(work, options):
    torch.manual_seed(options.seed)
    device = torch.device(options.device)
    tokens, examples = Tokens(work), Examples(work, options)
    model, namer = new_model(tokens, options).to(device), nn.Linear(options.dim, len(examples.phonemes) + 1).to(device)
    average = copy.deepcopy(model)  # exponential moving average of the weights, which is exported
    parameters = [p for p in (*model.parameters(), *namer.parameters()) if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=0.0, betas=(0.9, 0.98), eps=1e-9, weight_decay=0.01, fused=True)
    step, checkpoint = 0, work / "checkpoint.pt"
    if checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=True)
        step = saved["step"]
        for name, part in (("model", model), ("average", average), ("namer", namer), ("optimizer", optimizer)):
            part.load_state_dict(saved[name])
    decoder = Decoder(model)
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {options.updates} updates, from {step}", flush=True)

    groups = torch.utils.data.DataLoader(
        examples, batch_size=None, sampler=range(step // BATCHES, len(examples)), num_workers=options.workers)
    sums = torch.zeros(3, device=device)
    for group in groups:
        for batch in group:
            *sound, ids, wanted, looks, phoneme_ids = (part.to(device, non_blocking=True) for part in batch)
            rate = learning_rate(step / options.updates, options)
            optimizer.param_groups[0]["lr"] = rate
            memory = encode(model, log_mel(*sound))
            text, look = decoder.losses(memory, ids, wanted, looks.float())
            phonemes = F.cross_entropy(namer(memory).flatten(0, 1), phoneme_ids.flatten())
            (text + options.phoneme_weight * phonemes + options.look_weight * look).backward()
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            with torch.no_grad():
                torch._foreach_lerp_(list(average.parameters()), list(model.parameters()), max(0.002, 9 / (10 + step)))
                sums += torch.stack([text, phonemes, look])
        if step % 400 == 0:
            means = (sums / 400).tolist()
            sums.zero_()
            print(f"step {step}  loss {means[0]:.4f}  phonemes {means[1]:.4f}  attention {means[2]:.4f}  lr {rate:.2e}", flush=True)
        if step % 2000 == 0 or step // BATCHES == len(examples):
            save_atomically(checkpoint, {"step": step, "model": model.state_dict(), "average": average.state_dict(),
                                         "namer": namer.state_dict(), "optimizer": optimizer.state_dict()})


# ---- export -----------------------------------------------------------------------------------------------------------------------

# Clips of three voices not used in training: (file, voice, settings, texts with a pause between them).
CLIPS = [
    ("timer.wav", "en-us+Andy", {"rate": 165, "pitch": 45, "range": 50, "word_gap": 0}, ["set a timer for ten minutes"]),
    ("number.wav", "en-gb-x-rp+linda", {"rate": 175, "pitch": 50, "range": 50, "word_gap": 0}, ["three hundred and twelve"]),
    ("pause.wav", "en+m7", {"rate": 180, "pitch": 40, "range": 50, "word_gap": 0}, ["four two seven", "play some music"]),
]


def write_json(path, data):
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


def suppressed_ids(tokens):
    """Returns the ids that are never text: special tokens, and openai/whisper's marks of sounds and speakers that are one token."""
    encode_text = functools.partial(tokens.tokenizer.encode, add_special_tokens=False)
    marks = list('"#()*+/:;<=>@[\\]^_`{|}~「」『』')
    marks += "<< >> <<< >>> -- --- -( -[ (' (\" (( )) ((( ))) [[ ]] {{ }} ♪♪ ♪♪♪".split()
    first = {encode_text(" -")[0], encode_text(" '")[0]}
    for mark in marks + list("♩♪♫♬♭♮♯"):
        for ids in (encode_text(mark), encode_text(" " + mark)):
            if len(ids) == 1 or mark in "♩♪♫♬♭♮♯":
                first.add(ids[0])
    special = tokens.tokenizer.convert_tokens_to_ids(["<|translate|>", "<|transcribe|>", "<|startoflm|>"])
    return sorted(first | {*special, tokens.sot, tokens.previous, tokens.no_speech})


def write_clips(folder):
    folder.mkdir(exist_ok=True)
    espeak, lines = Espeak(), []
    for name, voice, settings, texts in CLIPS:
        sound = np.zeros(SAMPLE_RATE // 10)
        for text in texts:
            samples, _ = espeak.say(text, voice, **settings)
            begin = len(sound) / SAMPLE_RATE
            lines.append(f"{name}\t{begin:.2f}\t{begin + len(samples) / SAMPLE_RATE:.2f}\t{text}\t{voice}\n")
            pause = 0.1 if text is texts[-1] else 0.6
            sound = np.concatenate([sound, samples * (0.5 / np.abs(samples).max()), np.zeros(int(pause * SAMPLE_RATE))])
        write_wave(folder / name, sound)
    (folder / "clips.tsv").write_text("".join(lines), encoding="utf-8")


def export(work, options):
    """Writes the Whisper folder. Each file is written under another name and renamed, so that readers see only whole files."""
    tokens = Tokens(work)
    model = new_model(tokens, options)
    model.load_state_dict(torch.load(work / "checkpoint.pt", map_location="cpu", weights_only=True)["average"])
    aside = work / "export"
    (aside / "clips").mkdir(parents=True, exist_ok=True)
    model.config.bos_token_id = tokens.sot
    model.half().save_pretrained(aside)
    feature_extractor().save_pretrained(aside)
    tokens.tokenizer.save_pretrained(aside)
    settings = {
        "alignment_heads": [[options.decoder_layers - 1, head] for head in range(GUIDED_HEADS)],
        "begin_suppress_tokens": tokens.tokenizer.encode(" ", add_special_tokens=False),
        "bos_token_id": tokens.sot, "decoder_start_token_id": tokens.sot, "eos_token_id": tokens.eot, "is_multilingual": False,
        "max_initial_timestamp_index": round(LATEST_START / TIME_STEP), "max_length": MAX_TARGET,
        "no_timestamps_token_id": tokens.no_timestamps, "pad_token_id": tokens.eot, "prev_sot_token_id": tokens.previous,
        "return_timestamps": False, "suppress_tokens": suppressed_ids(tokens)}
    write_json(aside / "generation_config.json", settings)
    write_clips(aside / "clips")
    for path in sorted(path for path in aside.rglob("*") if path.is_file()):
        target = options.output / path.relative_to(aside)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(target.name + ".tmp")
        temporary.write_bytes(path.read_bytes())
        os.replace(temporary, target)
    print(f"exported to {options.output}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=Path("build/speech"), help="checkpoints, training data and test clips")
    parser.add_argument("--output", type=Path, default=Path("models/pretrained/english-numbers"))
    steps = {"data": prepare_data, "tokenizer": train_tokenizer, "train": train, "export": export, "evaluate": evaluate}
    parser.add_argument("--steps", nargs="+", choices=steps, default=list(steps))
    parser.add_argument("--utterances", type=int, default=60000, help="utterances to train on")
    parser.add_argument("--pieces", type=int, default=448, help="pieces of the tokenizer without special tokens; 256 of them are bytes")
    parser.add_argument("--updates", type=int, default=9600, help="steps of the training; the learning rate is zero at its end")
    parser.add_argument("--batch", type=int, default=192, help="windows in a step")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--workers", type=int, default=os.cpu_count() - 1, help="processes that speak and compose windows")
    parser.add_argument("--learning-rate", type=float, default=2e-3, help="maximum learning rate")
    parser.add_argument("--phoneme-weight", type=float, default=0.5, help="weight of the phonemes' loss; the text's loss has weight 1")
    parser.add_argument("--look-weight", type=float, default=0.2, help="weight of the guided attention's loss")
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--encoder-layers", type=int, default=3)
    parser.add_argument("--decoder-layers", type=int, default=2)
    parser.add_argument("--test-clips", type=int, default=200, help="clips of a test")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    options.work.mkdir(parents=True, exist_ok=True)
    for step in options.steps:
        steps[step](options.work, options)


if __name__ == "__main__":
    main()
