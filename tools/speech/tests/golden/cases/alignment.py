"""Results of openai/whisper's find_alignment for a fake model, whose cross-attention scores are random but roughly follow the
text."""

from types import SimpleNamespace

import numpy as np
import torch
from whisper import timing
from whisper.tokenizer import get_tokenizer

from .word_tokens import TEXTS

# Name, language, text, heads, encoder positions, positions with audio.
CASES = [
    ("sentence", "en", TEXTS["en"][2], 2, 60, 51),
    ("whole_window", "en", " One two, three four five.", 2, 40, 40),
    ("japanese", "ja", TEXTS["ja"][0], 1, 60, 55),
    ("emoji", "en", " So 👨‍👩‍👧 nice", 2, 33, 30),
    ("one_word", "en", " Hello", 2, 20, 17),
    ("no_text", "en", "", 1, 10, 9),
    ("blank", "en", " ", 1, 12, 10),
    ("four_positions", "en", " a b c", 2, 16, 4),
    ("three_positions", "en", " a b c", 2, 16, 3),
    ("two_positions", "en", " a b c d e f", 2, 16, 2),
    ("one_position", "en", " a b", 1, 8, 1),
    ("no_position", "en", " a b", 1, 8, 0),
    ("equal_columns", "en", " one two three", 2, 24, 24),  # some columns become NaN when they are standardized
]


class Attention(torch.nn.Module):
    def __init__(self, scores):
        super().__init__()
        self.scores = scores

    def forward(self):
        return None, self.scores


class Model:
    """A model with one decoder layer, all of whose heads are alignment heads."""

    def __init__(self, scores, logits):
        self.dims = SimpleNamespace(n_text_layer=1)
        self.decoder = SimpleNamespace(blocks=[SimpleNamespace(cross_attn=Attention(scores[None]))])
        self.alignment_heads = torch.ones(1, len(scores)).to_sparse()
        self.device = "cpu"
        self.logits = logits

    def __call__(self, mel, tokens):
        self.decoder.blocks[0].cross_attn()
        return self.logits[None]


def scores_of(name, heads, tokens, positions, frames, random):
    """Returns noisy scores that are highest near the diagonal."""
    way = np.linspace(0, max(frames - 1, 0), tokens)[:, None] - np.arange(positions)
    scores = random.normal(0, 1.5, (heads, tokens, positions)) - np.minimum(way**2, 30) / 6
    if name == "equal_columns":
        scores[0, :, 3] = -200  # all weights are 0, so standardizing computes 0 / 0
        scores[0, :, 9:14] = -200
    return torch.tensor(scores, dtype=torch.float32)


def cases():
    random = np.random.default_rng(2)
    expected, tensors = [], {}
    dtw = timing.dtw
    for name, language, text, heads, positions, frames in CASES:
        tokenizer = get_tokenizer(True, language=language)
        text_tokens = tokenizer.encode(text)
        rows = len(tokenizer.sot_sequence) + 1 + len(text_tokens) + 1
        scores = scores_of(name, heads, rows, positions, frames, random)
        logits = torch.tensor(random.normal(0, 2, (rows, 51865)), dtype=torch.float32)
        matrix = []

        def watched(negative):
            matrix.append(-negative)
            return dtw(negative)

        timing.dtw = watched
        words = timing.find_alignment(Model(scores, logits), tokenizer, text_tokens, torch.zeros(1), 2 * frames)
        timing.dtw = dtw
        chosen = logits[len(tokenizer.sot_sequence) :, : tokenizer.eot].softmax(-1)
        tensors[f"{name}/attention"] = scores.softmax(-1).numpy()
        if text_tokens:
            tensors[f"{name}/probabilities"] = chosen[torch.arange(len(text_tokens)), text_tokens].numpy()
        if matrix and matrix[0].numel():
            tensors[f"{name}/matrix"] = matrix[0].contiguous().numpy()
        pieces, piece_tokens = tokenizer.split_to_word_tokens([*text_tokens, tokenizer.eot])
        words_of_tokens = [{"text": piece, "tokens": own} for piece, own in zip(pieces, piece_tokens)]
        expected.append({"name": name, "frames": frames, "sot_sequence": len(tokenizer.sot_sequence), "words": words_of_tokens,
                         "timings": [vars(word) for word in words]})  # fmt: skip
    return expected, tensors


def paths():
    """Yields cases of small integers, in which many paths are equally good."""
    random = np.random.default_rng(5)
    for rows, columns in ((1, 1), (1, 4), (4, 1), (2, 2), (3, 3), (3, 6), (6, 3), (5, 9), (8, 8), (14, 14)):
        benefit = random.integers(-1, 2, (rows, columns))
        text, time = timing.dtw(-torch.tensor(benefit))
        first = [int(time[text == row].min()) for row in range(rows)]
        yield {"rows": rows, "benefit": benefit.ravel().tolist(), "first_columns": first}
