"""Results of transformers' _decode_asr for chunks of a made-up recording, whose overlapping parts are transcribed slightly
differently."""

from types import SimpleNamespace

import numpy as np
import torch
from transformers.models.whisper.tokenization_whisper import _decode_asr

END, TIMES, STEP, WINDOW = 100, 120, 0.02, 1500
TOKENIZER = SimpleNamespace(
    convert_tokens_to_ids={"<|notimestamps|>": TIMES - 1, "<|startofprev|>": END + 2, "<|startoftranscript|>": END + 1}.get,
    all_special_ids=list(range(END, TIMES)),
    _strip_prompt=lambda tokens, *_: tokens,
    decode=lambda tokens: "".join(f"{token} " for token in tokens),
)


def speech(random, seconds):
    """Returns pieces of speech (start, end, tokens). `tokens` has a pair for each token: the second at which it is spoken, and
    the token."""
    pieces, now = [], 0.0
    while now < seconds:
        start = now + random.choice([0, 0, 0, random.uniform(0, 3)])
        count = int(random.integers(1, 12))
        now = start + count * random.uniform(0.2, 0.6)
        pieces.append((start, now, [(start + i * (now - start) / count, int(random.integers(0, 30))) for i in range(count)]))
    return pieces


def chunk_tokens(random, pieces, start, seconds, errors):
    """Returns the tokens that a model could generate for a chunk."""
    tokens = []

    def time(at):
        tokens.append(TIMES + min(round(min(max(at - start, 0), seconds) / STEP), WINDOW))

    for begin, end, said in pieces:
        words = [token for at, token in said if start <= at < start + seconds]
        if not words:
            continue
        words = [int(random.integers(0, 30)) if random.random() < errors else word for word in words if random.random() > errors / 2]
        time(begin)
        tokens += words
        if end < start + seconds or random.random() < 0.5:
            time(end + random.choice([0, 0, 0.02, 0.1]))
    if tokens and random.random() < 0.2:
        tokens.append(tokens[-1])  # a pair of timestamps, and then another window
        tokens += [TIMES, *random.integers(0, 30, 3).tolist(), TIMES + 100]
    return tokens


def cases():
    random = np.random.default_rng(7)
    for i in range(60):
        seconds, length = random.uniform(5, 100), random.choice([30.0, 20.0, 11.1])
        shared = round(length / 6 * 16000) / 16000 if i % 10 else 0.0
        pieces, chunks, start = speech(random, seconds), [], 0.0
        while True:
            last = start + length >= seconds
            chunk = {"tokens": chunk_tokens(random, pieces, start, min(length, seconds - start), [0, 0.05, 0.3][i % 3])}
            chunk |= {"seconds": min(length, seconds - start), "left": shared if chunks else 0.0, "right": 0.0 if last else shared}
            chunks.append(chunk)
            if last:
                break
            start += length - 2 * shared
        outputs = [
            {"tokens": torch.tensor([chunk["tokens"]]), "stride": (chunk["seconds"], chunk["left"], chunk["right"])} for chunk in chunks
        ]
        _, found = _decode_asr(TOKENIZER, outputs, return_timestamps=True, return_language=False, time_precision=STEP)
        texts = [
            {"start": each["timestamp"][0], "end": each["timestamp"][1], "tokens": [int(token) for token in each["text"].split()]}
            for each in found["chunks"]
        ]
        yield {"chunks": chunks, "texts": texts}
