"""Self-attention in which the scores of keys outside of a window around each row are -inf."""

import torch

from maker.layers.case import Case, random
from self_attention import attend, each_sequence, project, projections


def band(length, window, before_only):
    distance = torch.arange(length)[None, :] - torch.arange(length)[:, None]  # from query to key
    hidden = (distance.abs() > window) | (before_only & (distance > 0))
    return torch.zeros(length, length, dtype=torch.float64).masked_fill(hidden, -torch.inf)


def cases():
    for name, model_dim, heads, window, before_only, lengths in [
        ("window_0", 6, 2, 0, False, [4, 1]),
        ("window_1", 7, 1, 1, False, [5, 2, 1]),
        ("window_3", 10, 5, 3, False, [19, 1, 7]),
        ("wider_than_the_sequences", 9, 3, 40, False, [5, 3]),
        ("before_0", 4, 1, 0, True, [3]),
        ("before_2", 15, 3, 2, True, [17, 1, 4]),
    ]:
        weights = projections(f"local_attention/{name}", model_dim)
        x = random(f"local_attention/{name}/x", sum(lengths), model_dim)

        def local(rows):
            query, key, value = (project(weights, part, rows) for part in ("query", "key", "value"))
            return project(weights, "output", attend(query, key, value, heads, band(len(rows), window, before_only)))

        numbers = {"heads": heads, "window": window, "before_only": before_only}
        inputs = {"x": x, "lengths": torch.tensor(lengths)} | {k: torch.tensor([int(v)]) for k, v in numbers.items()}
        yield Case(name, inputs, {"y": each_sequence(local, x, lengths)}, weights)
