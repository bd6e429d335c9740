#!/usr/bin/env python3
"""Makes this folder's data: the results of openai/whisper's own functions, without a checkpoint, for texts, attention and
segments, of FFmpeg's resampling, and of transformers' feature extractor.

    pip install numpy==2.4.6 torch==2.15.0 safetensors==0.8.0 openai-whisper==20250625 av==18.1.0 transformers==5.23.0
    python make_speech.py

Each module of cases/ makes the cases of one file. README.md describes the files. A second run writes the same bytes.
"""

import json
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parents[3] / "tests/golden"))  # log_mel uses maker/layers

from cases import alignment, log_mel, resampling, segments, transcripts, word_tokens  # noqa: E402


def plain(value):
    """Converts NumPy numbers to Python numbers."""
    return value.item() if isinstance(value, np.generic) else value


def write(name, cases):
    lines = ",\n".join(json.dumps(case, ensure_ascii=False, default=plain) for case in cases)
    (FOLDER / f"{name}.json").write_text(f"[\n{lines}\n]\n")
    print(f"{name}: {len(cases)} cases")


def main():
    write("word_tokens", list(word_tokens.cases()))
    cases, tensors = alignment.cases()
    write("alignment", cases)
    save_file(tensors, FOLDER / "alignment.safetensors")
    save_file({name: each.numpy() for case in log_mel.cases() for name, each in case.tensors().items()}, FOLDER / "log_mel.safetensors")
    write("paths", list(alignment.paths()))
    write("segments", list(segments.cases()))
    write("transcripts", list(transcripts.cases()))
    write("resampling", list(resampling.cases()))


if __name__ == "__main__":
    main()
