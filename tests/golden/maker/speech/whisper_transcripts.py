"""Transcripts of tones by transformers with a small Whisper model. The tests of `encdec transcribe` generate the same tones."""

import json
from types import SimpleNamespace

import numpy as np
import torch
from transformers import GenerationConfig, WhisperFeatureExtractor, WhisperTokenizer
from transformers.models.whisper.tokenization_whisper import _collate_word_timestamps, _decode_asr

RATE, HOP = 16_000, 160
UNSPOKEN = [i for i in range(393) if i % 60 != 7 and i != 287]  # suppressing these tokens makes timestamps likely
GUARDS = {"compression_ratio_threshold": 1.05, "logprob_threshold": -2.7, "no_speech_threshold": 0.00125, "temperature": 0.0}
GUARD_OPTIONS = ["--compression-ratio-threshold", "1.05", "--logprob-threshold", "-2.7", "--no-speech-threshold", "0.00125"]
UNSPOKEN_OPTIONS = ["--suppress-tokens", ",".join(map(str, UNSPOKEN))]
# Name, seconds, hertz, options of generate(), and the same options on the command line.
CASES = [
    ("short", 0.27, 300, {}, []),
    ("one_window", 0.4, 500, {}, []),
    ("windows", 3.007, 250, {}, []),
    ("odd_frames", 2.131, 410, {}, []),
    ("conditioned", 2.4, 330, {"condition_on_prev_tokens": True}, ["--condition-on-previous-text"]),
    ("prompt", 1.7, 270, {"prompt": " two"}, ["--initial-prompt", "two"]),
    ("conditioned_prompt", 1.7, 270, {"prompt": " two", "condition_on_prev_tokens": True},
     ["--initial-prompt", "two", "--condition-on-previous-text"]),
    ("carried_prompt", 1.9, 350,
     {"prompt": " two", "condition_on_prev_tokens": True, "prompt_condition_type": "all-segments"},
     ["--initial-prompt", "two", "--condition-on-previous-text", "--carry-initial-prompt"]),
    ("guards", 4.5, 290, GUARDS,
     GUARD_OPTIONS),
    ("guards_conditioned", 3.5, 230, GUARDS | {"condition_on_prev_tokens": True},
     [*GUARD_OPTIONS, "--condition-on-previous-text"]),
    ("pairs", 3.2, 290, {"suppress_tokens": UNSPOKEN}, UNSPOKEN_OPTIONS),
    ("pairs_conditioned", 2.6, 310, {"suppress_tokens": UNSPOKEN, "condition_on_prev_tokens": True},
     [*UNSPOKEN_OPTIONS, "--condition-on-previous-text"]),
    ("words", 2.55, 380, {"return_token_timestamps": True}, ["--word-timestamps"]),
    ("words_prompt", 0.33, 440, {"return_token_timestamps": True, "prompt": " two"},
     ["--word-timestamps", "--initial-prompt", "two"]),
    ("words_conditioned", 2.1, 320,
     {"suppress_tokens": UNSPOKEN, "condition_on_prev_tokens": True, "return_token_timestamps": True},
     [*UNSPOKEN_OPTIONS, "--condition-on-previous-text", "--word-timestamps"]),
    ("beams", 2.3, 360, {"num_beams": 3}, ["--beam-size", "3"]),
    ("beams_pairs", 3.7, 280, {"num_beams": 5, "suppress_tokens": UNSPOKEN}, [*UNSPOKEN_OPTIONS, "--beam-size", "5"]),
    ("beams_guards", 4.1, 310, GUARDS | {"num_beams": 2, "suppress_tokens": UNSPOKEN, "condition_on_prev_tokens": True},
     [*GUARD_OPTIONS, *UNSPOKEN_OPTIONS, "--beam-size", "2", "--condition-on-previous-text"]),
    ("beams_words", 1.9, 270, {"num_beams": 4, "suppress_tokens": UNSPOKEN, "return_token_timestamps": True},
     [*UNSPOKEN_OPTIONS, "--beam-size", "4", "--word-timestamps"]),
    ("chunks", 2.9, 310, {"chunk": 0.4}, ["--chunk-length", "0.4"]),
    ("chunks_pairs", 3.1, 260, {"chunk": 0.4, "suppress_tokens": UNSPOKEN}, ["--chunk-length", "0.4", *UNSPOKEN_OPTIONS]),
    ("chunks_short", 2.3, 340, {"chunk": 0.29, "suppress_tokens": UNSPOKEN},
     ["--chunk-length", "0.29", *UNSPOKEN_OPTIONS]),
    ("chunks_beams", 2.6, 290, {"chunk": 0.4, "num_beams": 5, "suppress_tokens": UNSPOKEN},
     ["--chunk-length", "0.4", "--beam-size", "5", *UNSPOKEN_OPTIONS]),
    ("one_chunk", 0.35, 420, {"chunk": 0.4, "suppress_tokens": UNSPOKEN}, ["--chunk-length", "0.4", *UNSPOKEN_OPTIONS]),
]  # fmt: skip


def tone(seconds, hertz):
    """Returns a rising tone as 16-bit samples."""
    t = np.arange(int(seconds * RATE)) / RATE
    return np.round(12_000 * np.sin(6.2832 * hertz * t * (1 + t))).astype(np.int16)


def features_of(samples, bands, frames):
    """Returns the output of the feature extractor. Samples that fit into a window are padded with silence."""
    extractor = WhisperFeatureExtractor(feature_size=bands)
    samples = samples.astype(np.float32) / 32768
    size = frames * HOP
    padding = {"padding": "max_length", "max_length": size} if len(samples) <= size else {"padding": "longest"}
    return extractor(samples, sampling_rate=RATE, truncation=False, return_tensors="pt", return_attention_mask=True, **padding)


def words_of(segment, tokenizer, first_special):
    """Returns the words of a segment as transformers' pipeline does."""
    tokens, times = segment["tokens"].tolist(), segment["token_timestamps"].tolist()
    text = [i for i, token in enumerate(tokens) if token < first_special]
    spans = [(round(times[i - 1], 2), round(times[i], 2)) for i in text]
    words = _collate_word_timestamps(tokenizer, [tokens[i] for i in text], spans, None, False)
    return [{"word": word["text"], "start": word["timestamp"][0], "end": word["timestamp"][1]} for word in words]


def chunks_of(samples, length):
    """Cuts samples into chunks as transformers' pipeline does. Yields the samples of each chunk, and its seconds: (all, shared
    with the previous chunk, shared with the next chunk)."""
    size, shared = round(length * RATE), round(length / 6 * RATE)
    for start in range(0, len(samples), size - 2 * shared):
        chunk, is_last = samples[start : start + size], start + size >= len(samples)
        stride = (len(chunk), shared if start else 0, 0 if is_last else shared)
        yield chunk, tuple(count / RATE for count in stride)
        if is_last:
            return


def joined(outputs, ids, window):
    """Joins the outputs of chunks as transformers' pipeline does. Returns segments with tokens instead of text."""
    tokenizer = SimpleNamespace(
        convert_tokens_to_ids=ids.get,
        all_special_ids=list(range(ids["<|endoftext|>"], ids["<|notimestamps|>"] + 1)),
        _strip_prompt=lambda tokens, *_: tokens,
        decode=lambda tokens: "".join(f"{token} " for token in tokens),
    )
    _, found = _decode_asr(
        tokenizer, outputs, return_timestamps=True, return_language=False, time_precision=0.02, segment_size=window
    )
    return [
        {"start": each["timestamp"][0], "end": each["timestamp"][1], "tokens": [int(token) for token in each["text"].split()]}
        for each in found["chunks"]
    ]


@torch.no_grad()
def write_transcripts(path, model, ids, folder):
    """Writes the transcripts. `ids` maps names of special tokens to ids. `folder` has the tokenizer."""
    tokenizer = WhisperTokenizer.from_pretrained(folder)
    settings = GenerationConfig(
        **model.generation_config.to_diff_dict()
        | {
            "no_timestamps_token_id": ids["<|notimestamps|>"], "prev_sot_token_id": ids["<|startofprev|>"],
            "is_multilingual": False, "alignment_heads": [[1, 0], [1, 1]],
        }
    )  # fmt: skip
    frames = 2 * model.config.max_source_positions
    model.eval()
    cases = []
    for name, seconds, hertz, given, options in CASES:
        given = dict(given)
        if "prompt" in given:
            given["prompt_ids"] = torch.tensor([ids["<|startofprev|>"], *tokenizer(given.pop("prompt"), add_special_tokens=False)["input_ids"]])
        length = given.pop("chunk", None)

        def generate(samples, given=given):
            features = features_of(samples, model.config.num_mel_bins, frames)
            return model.generate(
                features.input_features, attention_mask=features.attention_mask, generation_config=settings,
                return_timestamps=True, return_segments=True, **given,
            )  # fmt: skip

        samples = tone(seconds, hertz)
        if length is not None:
            outputs = [{"tokens": generate(chunk)["sequences"], "stride": stride} for chunk, stride in chunks_of(samples, length)]
            segments = joined(outputs, ids, model.config.max_source_positions)
            cases.append({"name": name, "seconds": seconds, "hertz": hertz, "options": options, "segments": segments})
            continue
        result = generate(samples)
        segments = [
            {"start": round(float(each["start"]), 6), "end": round(float(each["end"]), 6), "tokens": each["tokens"].tolist()}
            | ({"words": words_of(each, tokenizer, ids["<|endoftext|>"])} if "token_timestamps" in each else {})
            for each in result["segments"][0]
        ]
        cases.append({"name": name, "seconds": seconds, "hertz": hertz, "options": options, "segments": segments})
    lines = ",\n".join(json.dumps(case) for case in cases)
    path.write_text(f"[\n{lines}\n]\n")
