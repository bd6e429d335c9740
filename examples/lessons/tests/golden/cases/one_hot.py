"""One-hot tokens by PyTorch, and embeddings of words by their classes."""

import torch
from torch.nn.functional import embedding, one_hot

from maker.layers.case import Case, random


def cases():
    ids = torch.tensor([2, 0, 6, 6, 3])
    table = random("one_hot/table", 7, 5)
    yield Case("tokens", {"ids": ids}, {"one_hot": one_hot(ids, 7).double(), "rows": embedding(ids, table)}, {"embedding.weight": table})

    classes = torch.tensor([1, 1, 0, 2, 0, 2, 1])  # class of each word
    table = random("one_hot/classes", 3, 5)
    of_class = one_hot(classes, 3).T.double()  # [C, V]
    yield Case("classes", {"ids": ids}, {"rows": one_hot(ids, 7).double() @ of_class.T @ table}, {"class.weight": of_class, "embedding.weight": table})
