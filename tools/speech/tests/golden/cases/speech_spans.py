"""Speech spans that faster-whisper's vad.py finds from probabilities, and the conversion of times in the joined speech to times
in the recording."""

from types import SimpleNamespace

import numpy as np
from faster_whisper import vad
from faster_whisper.transcribe import restore_speech_timestamps

RATE, WINDOW = 16000, 512
# Number of windows, mean length of speech and of silence in windows, options.
CASES = [
    (0, 4, 4, {}),
    (1, 4, 4, {}),
    (2, 1, 1, {"min_silence_duration_ms": 0, "speech_pad_ms": 0}),
    (150, 30, 90, {}),
    (150, 30, 90, {}),
    (150, 10, 60, {"min_silence_duration_ms": 1000}),
    (150, 8, 20, {"min_silence_duration_ms": 500, "speech_pad_ms": 30}),
    (150, 8, 20, {"min_silence_duration_ms": 500, "speech_pad_ms": 333}),
    (150, 8, 20, {"min_silence_duration_ms": 500, "speech_pad_ms": 7, "min_speech_duration_ms": 100}),
    (120, 2, 3, {"min_silence_duration_ms": 0, "speech_pad_ms": 0}),
    (120, 2, 3, {"min_silence_duration_ms": 100, "speech_pad_ms": 30, "min_speech_duration_ms": 250}),
    (120, 2, 3, {"min_silence_duration_ms": 64, "speech_pad_ms": 100, "min_speech_duration_ms": 64}),
    (120, 8, 8, {"threshold": 0.35, "min_silence_duration_ms": 200}),
    (120, 8, 8, {"threshold": 0.1, "min_silence_duration_ms": 200}),
    (120, 8, 8, {"threshold": 0.8, "neg_threshold": 0.8, "min_silence_duration_ms": 200}),
    (120, 8, 8, {"threshold": 0.6, "neg_threshold": 0.05, "min_silence_duration_ms": 200}),
    (120, 8, 8, {"threshold": 0.0, "min_silence_duration_ms": 200}),
    (120, 8, 8, {"neg_threshold": 0.7, "min_silence_duration_ms": 200, "speech_pad_ms": 30}),
    (200, 80, 6, {"max_speech_duration_s": 2.0}),
    (200, 80, 6, {"max_speech_duration_s": 2.0, "speech_pad_ms": 100}),
    (200, 30, 6, {"max_speech_duration_s": 1.5, "speech_pad_ms": 30}),
    (200, 20, 8, {"max_speech_duration_s": 2.5, "speech_pad_ms": 30, "min_silence_duration_ms": 500}),
    (200, 20, 8, {"max_speech_duration_s": 1.7, "speech_pad_ms": 15, "min_silence_duration_ms": 300}),
    (200, 12, 8, {"max_speech_duration_s": 1.0, "speech_pad_ms": 0, "min_silence_duration_ms": 1000}),
    (200, 12, 8, {"max_speech_duration_s": 1.2, "speech_pad_ms": 30, "min_speech_duration_ms": 500}),
    (60, 12, 8, {"max_speech_duration_s": 0.1}),  # each window is a span
]


def random_probabilities(random, windows, speech, silence):
    """Returns probabilities in hundredths. Runs of high and low values alternate; a few values are near a threshold or extreme."""
    result, is_speech = [], random.random() < 0.5
    while len(result) < windows:
        count = 1 + random.poisson(speech if is_speech else silence)
        middle = 0.8 if is_speech else 0.1
        result += random.normal(middle, 0.15, count).tolist()
        is_speech = not is_speech
    odd = random.random(windows) < 0.08
    result = np.where(odd, random.choice([0.5, 0.35, 0.34, 0.36, 0.49, 0.01, 0.0, 1.0], windows), result[:windows])
    return (np.clip(result, 0, 1) * 100).round().astype(int)


def spans_of(hundredths, samples, options):
    vad.get_vad_model = lambda: lambda padded: (hundredths / 100).astype(np.float32)
    return [[span["start"], span["end"]] for span in vad.get_speech_timestamps(np.zeros(samples), vad.VadOptions(**options))]


def cases():
    random = np.random.default_rng(6)
    original = vad.get_vad_model
    for windows, speech, silence, options in CASES:
        hundredths = random_probabilities(random, windows, speech, silence)
        # A third of the cases end with a whole window.
        samples = max(0, windows * WINDOW - int(random.choice([0, 1, random.integers(1, WINDOW)])))
        spans = spans_of(hundredths, samples, options)
        yield {"options": options, "samples": samples, "hundredths": hundredths.tolist(), "spans": spans}
    vad.get_vad_model = original


def random_spans(random, count):
    edges = np.cumsum(random.choice([40, 80, 512, 6400, 12345, 16000, 70000], 2 * count))
    return [[int(start), int(end)] for start, end in edges.reshape(-1, 2)]


def restored(segment, spans):
    """Converts a segment [start, end, [[word start, word end], ...]] to times of the recording."""
    words = [SimpleNamespace(start=start, end=end) for start, end in segment[2]]
    chunks = [{"start": start, "end": end} for start, end in spans]
    own = SimpleNamespace(start=segment[0], end=segment[1], words=words)
    next(restore_speech_timestamps([own], chunks, RATE))
    return [own.start, own.end, [[word.start, word.end] for word in words]]


def times():
    random = np.random.default_rng(7)
    for count in (1, 1, 2, 3, 5, 12):
        spans = random_spans(random, count)
        map_ = vad.SpeechTimestampsMap([{"start": start, "end": end} for start, end in spans], RATE)
        borders = [end / RATE for end in map_.chunk_end_sample]
        end = borders[-1]
        asked = [0.0, *borders, *(b + d for b in borders for d in (-0.02, 0.02, 1e-5)), *random.uniform(0, end + 1, 6).round(2)]
        asked = [max(0.0, float(time)) for time in asked]
        segments = []
        for _ in range(6):
            edges = np.sort(random.choice(asked, 2 * int(random.integers(0, 4)) + 2)).tolist()
            words = np.reshape(edges[1:-1], (-1, 2)).tolist()
            segments.append([edges[0], edges[-1], words])
        expected = {"spans": spans, "times": asked}
        for prefix, ask in ("spans_of_", map_.get_chunk_index), ("", map_.get_original_time):
            for kind, is_end in ("starts", False), ("ends", True):
                expected[prefix + kind] = [ask(time, is_end=is_end) for time in asked]
        yield expected | {"segments": segments, "restored": [restored(segment, spans) for segment in segments]}
