"""Transcripts of tones by openai/whisper with a small model. The tests of `encdec transcribe` generate the same tones."""

import json
import sys

import numpy as np
import tiktoken
import torch
import whisper
from transformers import WhisperFeatureExtractor
from whisper.tokenizer import Tokenizer

RATE, HOP = 16_000, 160
UNSPOKEN = ",".join(str(i) for i in range(393) if i % 60 != 7 and i != 287)  # suppressing these tokens makes timestamps likely
GUARDS = {"compression_ratio_threshold": 1.05, "logprob_threshold": -2.7, "no_speech_threshold": 0.00125}
# Name, seconds, hertz, and options of transcribe(). The command has the same options.
CASES = [
    ("short", 0.27, 300, {}),
    ("one_window", 0.4, 500, {}),
    ("windows", 3.007, 250, {}),
    ("odd_frames", 2.131, 410, {}),
    ("unconditioned", 2.4, 330, {"condition_on_previous_text": False}),
    ("prompt", 1.7, 270, {"initial_prompt": "two"}),
    ("carried_prompt", 1.9, 350, {"initial_prompt": "two", "carry_initial_prompt": True}),
    ("clips", 3.1, 280, {"clip_timestamps": "0.5,0.9,2"}),
    ("guards", 4.5, 290, GUARDS),
    ("pairs", 3.2, 290, {"suppress_tokens": UNSPOKEN}),
    ("late", 2.2, 370, {"suppress_tokens": UNSPOKEN, "max_initial_timestamp": 0.1}),
    ("words", 2.55, 380, {"word_timestamps": True}),
    ("words_prompt", 0.33, 440, {"word_timestamps": True, "initial_prompt": "two"}),
    ("words_pairs", 2.1, 320, {"word_timestamps": True, "suppress_tokens": UNSPOKEN}),
    ("silences", 3.3, 300, {"word_timestamps": True, "suppress_tokens": UNSPOKEN, "hallucination_silence_threshold": 0.1}),
    ("beams", 2.3, 360, {"beam_size": 3}),
    ("beams_pairs", 3.7, 280, {"beam_size": 5, "suppress_tokens": UNSPOKEN}),
    ("beams_patience", 2.2, 250, {"beam_size": 3, "patience": 2.0, "length_penalty": 0.5, "suppress_tokens": UNSPOKEN}),
    ("beams_words", 1.9, 270, {"beam_size": 4, "suppress_tokens": UNSPOKEN, "word_timestamps": True}),
]  # fmt: skip


def tone(seconds, hertz):
    """Returns a rising tone as 16-bit samples."""
    t = np.arange(int(seconds * RATE)) / RATE
    return np.round(12_000 * np.sin(6.2832 * hertz * t * (1 + t))).astype(np.int16)


def arguments(options):
    """Returns options of transcribe() as words of the command line."""
    for name, value in ({"beam_size": 1} | options).items():
        name = name.replace("_", "-")
        yield from [f"--{name}", str(value)] if not isinstance(value, bool) else [f"--{name}" if value else f"--no-{name}"]


def openai_model(config, tensors):
    """Returns the model of openai/whisper with these tensors."""
    sizes = whisper.ModelDimensions(
        n_mels=config.num_mel_bins, n_audio_ctx=config.max_source_positions, n_audio_state=config.d_model,
        n_audio_head=config.encoder_attention_heads, n_audio_layer=config.encoder_layers, n_vocab=config.vocab_size,
        n_text_ctx=config.max_target_positions, n_text_state=config.d_model, n_text_head=config.decoder_attention_heads,
        n_text_layer=config.decoder_layers,
    )  # fmt: skip
    model = whisper.model.Whisper(sizes)
    model.load_state_dict(tensors)
    return model.eval()


def use(config, texts, ids):
    """Makes openai/whisper use the vocabulary, the bands and the window of a small model."""
    encoding = tiktoken.Encoding(
        "tiny", pat_str=r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        mergeable_ranks={text: i for i, text in enumerate(texts)},
        special_tokens={token: i for token, i in ids.items() if i >= len(texts)},
    )  # fmt: skip
    tokenizer = Tokenizer(encoding, num_languages=99)
    filters = torch.from_numpy(WhisperFeatureExtractor(feature_size=config.num_mel_bins).mel_filters.T.astype(np.float32))
    frames = 2 * config.max_source_positions
    changes = {
        "get_tokenizer": lambda *_, **__: tokenizer, "mel_filters": lambda *_: filters,
        "N_FRAMES": frames, "N_SAMPLES": frames * HOP, "CHUNK_LENGTH": frames * HOP / RATE,
    }  # fmt: skip
    for module in ("audio", "decoding", "timing", "transcribe"):
        for name, value in changes.items():
            if hasattr(sys.modules[f"whisper.{module}"], name):
                setattr(sys.modules[f"whisper.{module}"], name, value)


def rounded(values):
    return {key: round(float(value), 6) if isinstance(value, float | np.floating) else value for key, value in values.items()}


def write_transcripts(path, config, tensors, texts, ids):
    """Writes the transcripts. `tensors` have openai/whisper's names, `texts` are the bytes of the text tokens, `ids` maps names
    of tokens to ids."""
    use(config, texts, ids)
    model = openai_model(config, tensors)
    cases = []
    for name, seconds, hertz, options in CASES:
        samples = tone(seconds, hertz).astype(np.float32) / 32768
        result = model.transcribe(samples, temperature=0.0, fp16=False, verbose=None, **options)
        segments = []
        for found in result["segments"]:
            segment = {key: found[key] for key in ("seek", "start", "end", "tokens", "avg_logprob", "no_speech_prob")}
            segments.append(rounded(segment) | ({"words": [rounded(word) for word in found["words"]]} if "words" in found else {}))
        cases.append({"name": name, "seconds": seconds, "hertz": hertz, "options": list(arguments(options)), "segments": segments})
    path.write_text("[\n" + ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases) + "\n]\n", encoding="utf-8")
