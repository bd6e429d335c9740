"""Random words and punctuation, assigned to the segments of a window by openai/whisper, and the segments' anomaly scores."""

import copy
import types

import numpy as np
from whisper import timing
from whisper.transcribe import transcribe

EOT = 50257
BEGIN = 50364  # first timestamp token
TEXTS = [" a", " word", " longer", " naïve", "’s", "東", "京", " ", "", " -", " (", ' "', ' "(', "“", "¿", "[", "'"]
MARKS = [".", "。", ",", "，", "!", "?", "？", ":", ")", '"', "”", "...", "!?", ".。", "、", "))", " ,"]


def nested(name, closure):
    """Returns a function that is nested in transcribe()."""
    code = next(c for c in transcribe.__code__.co_consts if isinstance(c, types.CodeType) and c.co_name == name)
    cells = tuple(types.CellType(closure[variable]) for variable in code.co_freevars)
    return types.FunctionType(code, {}, name, None, cells)


def anomaly_functions():
    punctuation = "\"'“¿([{-\"'.。,，!！?？:：”)]}、"
    assert punctuation in transcribe.__code__.co_consts
    score = nested("word_anomaly_score", {})
    return score, nested("is_segment_anomaly", {"punctuation": punctuation, "word_anomaly_score": score})


def random_words(random, count):
    words, time = [], random.choice([0.0, 0.02, 0.5, 4.0])
    for _ in range(count):
        text = random.choice(MARKS if random.random() < 0.3 else TEXTS)
        tokens = random.integers(0, EOT, random.integers(1, 4)).tolist()
        steps = random.choice([0, 1, 5, 12, 20, 60, 150], p=[0.1, 0.1, 0.2, 0.3, 0.15, 0.1, 0.05])
        start, time = time, (round(time * 50) + steps) / 50
        words.append({"text": str(text), "tokens": tokens, "start": start, "end": time, "probability": round(random.random(), 3)})
    return words


def random_segments(random, words, seek):
    """Returns segments that end between words. Some of their times are wrong."""
    cuts = np.sort(random.integers(0, len(words) + 1, random.integers(0, 4))) if words else np.zeros(2, int)
    segments = []
    for first, last in zip([0, *cuts], [*cuts, len(words)]):
        own = words[first:last]
        start, end = (own[0]["start"], own[-1]["end"]) if own else (1.0, 1.0)
        start, end = (max(0, round((t + random.choice([-2, -0.6, 0, 0, 0.2, 0.6, 2])) * 50)) for t in (start, end))
        end = max(start, end)
        tokens = [BEGIN + start, *(token for word in own for token in word["tokens"]), BEGIN + end]
        segments.append({"seek": seek, "start": seek / 100 + start / 50, "end": seek / 100 + end / 50, "tokens": tokens})
    return segments


def with_words(segments, words, last_speech):
    result = copy.deepcopy(segments)
    timings = [
        timing.WordTiming(w["text"], list(w["tokens"]), np.float64(w["start"]), np.float64(w["end"]), w["probability"])
        for w in words
    ]
    timing.find_alignment = lambda *arguments, **named: timings
    tokenizer, unused = types.SimpleNamespace(eot=EOT), {"model": None, "mel": None, "num_frames": 0}
    timing.add_word_timestamps(segments=result, tokenizer=tokenizer, last_speech_timestamp=last_speech, **unused)
    return result


def random_cases(random):
    for count in [0, 1, 1, 1, 2, 2, 3, 3, 5, 5, 8, 8, 8, 12, 12, 12, 20]:
        words = random_words(random, count)
        seek = int(random.choice([0, 1234, 3000, 360001]))
        yield words, random_segments(random, words, seek), seek / 100 - float(random.choice([0, 0.5, 4]))


def even_words(count, first, last):
    """Returns words of 0.2 seconds, except the first and the last. All are improbable, except words 2 to 7."""
    durations = [first, *[0.2] * (count - 2), last]
    ends = np.cumsum(durations).round(2).tolist()
    words = [{"text": " w", "tokens": [i], "start": ends[i - 1] if i else 0.0, "end": ends[i]} for i in range(count)]
    return [word | {"probability": 0.1 if i < 2 or i >= 8 else 0.9} for i, word in enumerate(words)]


def chosen_cases():
    """Yields cases with words that reach far beyond their segment."""
    for start, end in ((0.9, 4.7), (0.6, 5.5)):
        words = even_words(20, 1.0, 2.0)
        yield words, [{"seek": 0, "start": start, "end": end, "tokens": list(range(20))}], 0.3


def cases():
    find_alignment = timing.find_alignment
    score, is_anomaly = anomaly_functions()
    for words, segments, last_speech in [*random_cases(np.random.default_rng(3)), *chosen_cases()]:
        expected = [
            {key: segment[key] for key in ("start", "end", "words")}
            | {"is_anomaly": bool(is_anomaly(segment)), "score": sum(score(word) for word in segment["words"])}
            for segment in with_words(segments, words, last_speech)
        ]
        yield {"words": words, "segments": segments, "last_speech": last_speech, "eot": EOT, "expected": expected}
    timing.find_alignment = find_alignment
