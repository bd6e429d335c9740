"""The step `evaluate` of train_speech.py: scores the bundled speech model on voices not used in training, and writes its model card."""

import json
import random
import statistics

import numpy as np
import torch

from score_speech import error_rate
from speech_corpus import (
    ACCENTS, COMMANDS, HELD_OUT_ACCENT, HELD_OUT_VARIANTS, SAMPLE_RATE, VARIANTS, WINDOW, WINDOW_SECONDS, Espeak, add_room, limit_band,
    not_speech, random_noise, random_utterance, write_wave)

TIME_STEP = 0.02  # seconds from one timestamp to the next

class Transcriber:
    """The exported model, run by transformers in float32 arithmetic."""

    def __init__(self, folder):
        from transformers import WhisperForConditionalGeneration, WhisperProcessor

        self.processor = WhisperProcessor.from_pretrained(folder)
        self.model = WhisperForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
        self.first_time = self.model.generation_config.no_timestamps_token_id + 1

    def features(self, clips, **settings):
        return self.processor.feature_extractor(clips, sampling_rate=SAMPLE_RATE, return_tensors="pt", **settings)

    def ids(self, clips, **settings):
        results = []
        for first in range(0, len(clips), 32):
            features = self.features(clips[first : first + 32]).input_features
            results += self.model.generate(features, **settings).tolist()
        return results

    def text(self, ids):
        return self.processor.tokenizer.decode([i for i in ids if i < self.first_time], skip_special_tokens=True).strip()

    def texts(self, clips, **settings):
        return [self.text(ids) for ids in self.ids(clips, **settings)]

    def segments(self, ids):
        """Returns [(text, start, end)] in seconds. The end of the last segment is None if it has no end time."""
        found, start, text = [], None, []
        for i in ids:
            if i < self.first_time:
                text.append(i)
            elif start is None:
                start, text = i, []
            else:
                found.append((self.text(text), (start - self.first_time) * TIME_STEP, (i - self.first_time) * TIME_STEP))
                start = None
        if start is not None and self.text(text):
            found.append((self.text(text), (start - self.first_time) * TIME_STEP, None))
        return found

    @torch.no_grad()
    def no_speech(self, clips):
        """Returns, for each clip, the probability of <|nospeech|> at the position of <|startoftranscript|>."""
        start = torch.full((len(clips), 1), self.model.generation_config.decoder_start_token_id)
        logits = self.model(self.features(clips).input_features, decoder_input_ids=start).logits
        return logits[:, 0].softmax(-1)[:, self.first_time - 2].tolist()


def clip_of(spoken, before=0.3, after=0.3):
    quiet = [np.zeros(int(seconds * SAMPLE_RATE)) for seconds in (before, after)]
    return as_stored(np.concatenate([quiet[0], spoken["samples"], quiet[1]]))


def as_stored(samples):
    """Returns the samples rounded to 16 bits, as in a WAV file."""
    return (np.clip(np.round(samples * 32767), -32768, 32767) / 32768).astype(np.float32)


def with_noise(clip, decibels, rng):
    level = np.sqrt((clip[clip != 0] ** 2).mean())
    return as_stored(clip + random_noise(rng, len(clip)) * level * 10 ** (-decibels / 20))


def speak_tests(options):
    """Returns {name of the test: utterances}, spoken by voices not used in training."""
    espeak = Espeak()
    tests = {}
    for name, held_out in (("clean", "variant"), ("accent", "accent")):
        rng = random.Random(f"{options.seed} {name}")
        tests[name] = [random_utterance(espeak, rng, held_out, rooms=False) for _ in range(options.test_clips)]
    rng = random.Random(f"{options.seed} room")
    tests["room"] = [
        spoken | {"samples": limit_band(add_room(spoken["samples"], noise), noise)}
        for spoken, noise in ((s, np.random.default_rng(rng.getrandbits(32))) for s in tests["clean"])]
    return tests


def write_test(work, name, clips, references):
    """Writes clips and references for other programs: test/NAME/0000.wav, ... and test/NAME.txt."""
    folder = work / "test" / name
    folder.mkdir(parents=True, exist_ok=True)
    for number, clip in enumerate(clips):
        write_wave(folder / f"{number:04}.wav", clip)
    (work / "test" / f"{name}.txt").write_text("".join(text + "\n" for text in references), encoding="utf-8")


def evaluate_words(transcriber, work, name, clips, references):
    """Returns a row of the card: word error rate and share of clips with errors, without and with timestamps."""
    write_test(work, name, clips, references)
    plain = transcriber.texts(clips)
    (work / "test" / f"{name}.hypotheses.txt").write_text("".join(text + "\n" for text in plain), encoding="utf-8")
    timed = transcriber.texts(clips, return_timestamps=True)
    rates = [100 * rate for rate in (*error_rate(plain, references), *error_rate(timed, references))]
    print(f"{name}: words {rates[0]:.2f} %, clips {rates[1]:.2f} %; with timestamps {rates[2]:.2f} %, {rates[3]:.2f} %", flush=True)
    return rates


def evaluate_segments(transcriber, work, spoken, rng):
    """Scores windows of two utterances with a pause. Returns error rates, the share of windows with two segments, and time errors."""
    clips, references, times = [], [], []
    while len(clips) < len(spoken) // 2:
        first, second = rng.sample(spoken, 2)
        before, pause = rng.uniform(0, 0.8), rng.uniform(0.4, 1.2)
        lengths = [len(s["samples"]) / SAMPLE_RATE for s in (first, second)]
        if before + lengths[0] + pause + lengths[1] > WINDOW_SECONDS - 0.1:
            continue
        gap = np.zeros(int(pause * SAMPLE_RATE))
        clips.append(clip_of({"samples": np.concatenate([first["samples"], gap, second["samples"]])}, before, 0.05))
        references.append(f"{first['text']} {second['text']}")
        second_start = before + lengths[0] + pause
        times.append([before, before + lengths[0], second_start, second_start + lengths[1]])
    rates = evaluate_words(transcriber, work, "pauses", clips, references)
    found = [transcriber.segments(ids) for ids in transcriber.ids(clips, return_timestamps=True)]
    errors = [abs(guess - right) for segments, row in zip(found, times) if len(segments) == 2
              for guess, right in zip([t for _, *pair in segments for t in pair], row) if guess is not None]
    return rates, sum(len(segments) == 2 for segments in found) / len(found), errors


def evaluate_silence(transcriber, options, spoken):
    """Scores windows without speech.

    Returns the shares with an empty text, without and with timestamps, and the shares of windows without and with speech whose
    no-speech probability is above 0.6."""
    rng = np.random.default_rng([options.seed, 7])
    quiet = [as_stored(not_speech(rng, WINDOW)) for _ in range(options.test_clips // 2)]
    empty = [sum(not text for text in transcriber.texts(quiet, **settings)) / len(quiet)
             for settings in ({}, {"return_timestamps": True})]
    silent = [p > 0.6 for i in range(0, len(quiet), 32) for p in transcriber.no_speech(quiet[i : i + 32])]
    talking = [p > 0.6 for i in range(0, len(spoken), 32) for p in transcriber.no_speech(spoken[i : i + 32])]
    return empty, sum(silent) / len(silent), sum(talking) / len(talking)


def evaluate_long(transcriber, work, spoken, rng):
    """Scores files of ten utterances, by transformers' sequential algorithm for long files.

    Returns the number of files, their mean length in seconds, and the word error rate."""
    clips, references = [], []
    for first in range(0, len(spoken) - 9, 10):
        parts = [clip_of(s, rng.uniform(0.2, 0.8), rng.uniform(0.2, 0.8)) for s in spoken[first : first + 10]]
        clips.append(np.concatenate(parts))
        references.append(" ".join(s["text"] for s in spoken[first : first + 10]))
    write_test(work, "long", clips, references)
    hypotheses = []
    for clip in clips:
        features = transcriber.features([clip], truncation=False, padding="longest", return_attention_mask=True)
        hypotheses.append(transcriber.text(transcriber.model.generate(**features, return_timestamps=True)[0].tolist()))
    (work / "test" / "long.hypotheses.txt").write_text("".join(text + "\n" for text in hypotheses), encoding="utf-8")
    return len(clips), statistics.mean(len(clip) / SAMPLE_RATE for clip in clips), 100 * error_rate(hypotheses, references)[0]


def evaluate(work, options):
    """Scores the exported model on clips of voices not used in training, and writes the model card."""
    transcriber = Transcriber(options.output)
    tests = speak_tests(options)
    noise = np.random.default_rng([options.seed, 8])
    clean = [clip_of(spoken) for spoken in tests["clean"]]
    references = [spoken["text"] for spoken in tests["clean"]]
    sets = [
        ("clean", "clean", clean, references),
        ("noise20", "noise 20 dB below the speech", [with_noise(clip, 20, noise) for clip in clean], references),
        ("noise10", "noise 10 dB below", [with_noise(clip, 10, noise) for clip in clean], references),
        ("noise5", "noise 5 dB below", [with_noise(clip, 5, noise) for clip in clean], references),
        ("room", "echo and telephone band", [clip_of(spoken) for spoken in tests["room"]], references),
        ("accent", "clean, an accent (Scotland) that is also not in the training data",
         [clip_of(spoken) for spoken in tests["accent"]], [spoken["text"] for spoken in tests["accent"]]),
    ]
    rows = {name: (title, evaluate_words(transcriber, work, name, clips, texts)) for name, title, clips, texts in sets}
    pause_rates, two_segments, time_errors = evaluate_segments(
        transcriber, work, tests["clean"], random.Random(f"{options.seed} pauses"))
    rows["pauses"] = ("two utterances with a pause", pause_rates)
    empty, silent, talking = evaluate_silence(transcriber, options, clean)
    files, length, long_rate = evaluate_long(transcriber, work, tests["clean"], random.Random(f"{options.seed} long"))
    print(f"silence: empty {empty}, no speech {silent:.3f} (with speech: {talking:.3f}); long {long_rate:.2f} %", flush=True)

    items = json.loads((work / "train_items.json").read_text(encoding="utf-8"))
    trained_texts = {text for text, *_ in items}
    new = [i for i, text in enumerate(references) if text not in trained_texts]
    hypotheses = (work / "test" / "clean.hypotheses.txt").read_text(encoding="utf-8").split("\n")
    step = torch.load(work / "checkpoint.pt", map_location="cpu", weights_only=True)["step"]
    table = [f"| {title} | {r[0]:.1f} % | {r[1]:.1f} % | {r[2]:.1f} % |" for title, r in rows.values()]
    sample = [f"| {references[i]} | {hypotheses[i]} |" for i in range(0, len(references), max(1, len(references) // 12))]
    config, settings = transcriber.model.config, transcriber.model.generation_config
    files_size = sum(path.stat().st_size for path in options.output.rglob("*") if path.suffix != ".md")
    card = MODEL_CARD.format(
        parameters=f"{sum(p.numel() for p in transcriber.model.parameters()):,}", size=f"{files_size / 1e6:.1f}",
        weights=f"{(options.output / 'model.safetensors').stat().st_size / 1e6:.1f}", window=WINDOW_SECONDS,
        frames=2 * config.max_source_positions, positions=config.max_source_positions, max_target=config.max_target_positions,
        eot=settings.eos_token_id, sot=settings.decoder_start_token_id, previous=settings.prev_sot_token_id,
        no_timestamps=settings.no_timestamps_token_id, first_time=transcriber.first_time, last_time=config.vocab_size - 1,
        vocabulary=config.vocab_size, latest=settings.max_initial_timestamp_index * TIME_STEP,
        latest_index=settings.max_initial_timestamp_index,
        table="\n".join(table), samples="\n".join(sample), words=sum(len(text.split()) for text in references),
        new=len(new), new_rate=100 * error_rate([hypotheses[i] for i in new], [references[i] for i in new])[0],
        two_segments=100 * two_segments, time_median=1000 * statistics.median(time_errors),
        time_90=1000 * statistics.quantiles(time_errors, n=10)[-1],
        empty=100 * empty[0], empty_timed=100 * empty[1],
        silent=100 * silent, talking=100 * talking, files=files, length=length, long_rate=long_rate,
        hours=items[-1][3] / SAMPLE_RATE / 3600, texts=len(trained_texts), voices=len({item[1] for item in items}),
        trained_steps=f"{step:,}", trained_accents=", ".join(ACCENTS), accent=HELD_OUT_ACCENT, variants=len(VARIANTS),
        held_out=", ".join(HELD_OUT_VARIANTS), windows=f"{step * options.batch:,}",
        commands=len(COMMANDS), **vars(options) | {"heads": settings.alignment_heads, "head_count": options.heads})
    (options.output / "README.md").write_text(card, encoding="utf-8")


MODEL_CARD = """\
# english-numbers

Transcribes spoken English numbers, times and a few household commands: for a recording of "set a timer for ten minutes"
it writes these words. It was trained on a speech synthesizer only, so it does not recognise human speech. It is a small
Transformer in the Whisper format of Hugging Face transformers, bundled so that you can try, test and time transcription
without a download.

| | |
|---|---|
| structure | Whisper: 2 convolutions, {encoder_layers} encoder and {decoder_layers} decoder layers, width {dim}, feed-forward {hidden}, {head_count} heads, norm before each sub-layer, gelu |
| parameters | {parameters}, stored as float16 ({weights} MB) |
| input | 16 kHz, 80 mel bins, a window of {window} s: {frames} frames, {positions} encoder positions |
| output | lower-case words, with numbers spelled out and no punctuation except the apostrophe in "o'clock"; at most {max_target} ids, prompt included |
| vocabulary | {vocabulary}: {pieces} pieces of a byte-level byte pair encoding; `<\\|endoftext\\|>` {eot}, `<\\|startoftranscript\\|>` {sot}, `<\\|en\\|>`, `<\\|translate\\|>`, `<\\|transcribe\\|>`, `<\\|startoflm\\|>`, `<\\|startofprev\\|>` {previous}, `<\\|nospeech\\|>`, `<\\|notimestamps\\|>` {no_timestamps}; `<\\|0.00\\|>` {first_time} to `<\\|{window}.00\\|>` {last_time} in steps of 0.02 s |
| prompt | English only: `<\\|startoftranscript\\|>`, then `<\\|notimestamps\\|>` or timestamps; optionally preceded by `<\\|startofprev\\|>` and previous text |
| generation | greedy. The first timestamp is at most {latest} s (`max_initial_timestamp_index` {latest_index}, Whisper has 50). `<\\|endoftext\\|>` as the first token means that there is no text |
| word timestamps | `alignment_heads` {heads} (layer, head) |

`clips/` has three recordings by voices that are not in the training data. `clips.tsv` has one line per utterance: file,
start and end in seconds, words, voice.

## Scores

{test_clips} utterances ({words} words) by voices that are not in the training data, {window} s windows, greedy search, computed by
transformers from this folder in float32:

| | word error rate | clips with errors | word error rate, with timestamps |
|---|---|---|---|
{table}

- **New texts:** {new} of the clean clips have a text that is not in the training data; their word error rate is {new_rate:.1f} %.
- **Long files:** {files} files of ten utterances ({length:.0f} s on average), by transformers' algorithm for long files: word error
  rate {long_rate:.1f} %.
- **Pauses** of 0.4 to 1.2 s between two utterances: two segments in {two_segments:.0f} % of the windows. The median error of their
  starts and ends is {time_median:.0f} ms; 90 % are within {time_90:.0f} ms.
- **Silence, noise, beeps and clicks:** empty text in {empty:.1f} % of the windows, {empty_timed:.1f} % with timestamps. The probability
  of `<|nospeech|>` is above 0.6 in {silent:.1f} % of these windows, and in {talking:.1f} % of the clean clips.

Word error rate = sum of edit distances / number of words spoken. The step `evaluate` of `models/pretrained/english-numbers/training/train_speech.py` writes
clips and texts to `build/speech/test`. `models/pretrained/english-numbers/training/score_speech.py` scores any program's output in the same way.

An evenly spaced sample of the clean clips:

| said | transcribed |
|---|---|
{samples}

## How it was made

`models/pretrained/english-numbers/training/train_speech.py` makes this folder from scratch:

    apt-get install espeak-ng
    pip install numpy==2.4.6 safetensors==0.8.0 tokenizers==0.23.3 torch==2.15.0 transformers==5.23.0
    python models/pretrained/english-numbers/training/train_speech.py

- **Data:** {utterances} utterances ({hours:.1f} hours, {texts} different texts) by espeak-ng 1.51: digit strings, numbers below a million with
  and without "and", years, times, decimals, and {commands} patterns of commands.
- **Voices:** {voices}, from seven accents ({trained_accents}) and {variants} of espeak-ng's voice variants. Rate, pitch, pitch
  range and gaps between words are random. A third of the utterances has echo, a fifth a narrower band.
- **Held out entirely:** the variants {held_out}; the accent {accent}.
- **Windows** are composed anew for each step: one to four utterances with pauses. A third start directly with speech, like
  a window that follows another one; a tenth start in the middle of an utterance. The end of the window
  sometimes truncates the last utterance, which then has only a start timestamp. 8 % of the windows have no speech.
- **Augmentation:** noise of many colours, 0 to 35 dB below the speech; gain; a random spectral colour; masked frames and
  bins.
- **Sequences:** half of them have timestamps; 45 % follow one to eight previous texts, with or without timestamps.
- **Training:** {trained_steps} steps of {batch} windows ({windows}), 9 minutes on an NVIDIA H200. It begins with single short
  utterances in short windows; the last quarter of the steps has whole windows.
- **Optimiser:** AdamW (0.9, 0.98), weight decay 0.01, gradient norm at most 1. The learning rate rises to {learning_rate:g} over 4 %
  of the steps and then follows a cosine to zero. The exported weights are a moving average (decay 0.998).
- **Loss:** the decoder's loss, plus {phoneme_weight:g} x the loss of the phoneme at each encoder position, plus {look_weight:g} x a guided-attention
  loss. During training, a linear layer that is not in the folder predicts the phonemes. Guided attention trains the alignment
  heads. For a word they attend evenly to the positions where espeak-ng speaks it, and a little to the pause after it; for
  a timestamp they attend to its position.
- **Seed** {seed}. A second run has the same texts, voices and windows, and gives a similar model, but not an identical one.

## Limits

- **Voices:** one synthesizer. Human speech was not tested; expect poor results.
- **Vocabulary:** only the words of its training texts. Other words are transcribed as numbers or commands.
- **Words that sound alike** are distinguished by context alone: "two" and "to", "four" and "for", "oh" and "o'".
- **Length:** utterances of up to 5.5 s. A longer utterance is truncated at the end of the window.

## Licence

The weights, the tokenizer and the texts were made for this project and have its licence, Apache-2.0. The training speech
and the clips are output of espeak-ng (GPL-3.0-or-later), used as a tool. This folder contains none of its code or data,
and neither the folder nor encdec needs it. No recordings of people were used.
"""
