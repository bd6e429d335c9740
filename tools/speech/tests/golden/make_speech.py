#!/usr/bin/env python3
"""Makes this folder's data, which README.md describes. Each module of cases/ makes the cases of one file.

    pip install -r ../../../../tests/golden/requirements.txt av==18.1.0 faster-whisper==1.2.1
    python make_speech.py
"""

import json
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parents[3] / "tests/golden"))  # log_mel uses maker/layers

from cases import alignment, log_mel, resampling, segments, speech_spans, transcripts, voice_activity, word_tokens  # noqa: E402


def plain(value):
    """Converts NumPy numbers to Python numbers."""
    return value.item() if isinstance(value, np.generic) else value


def write(name, cases):
    lines = [json.dumps(case, ensure_ascii=False, default=plain) for case in cases]
    (FOLDER / f"{name}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{name}: {len(lines)} cases")


def main():
    cases, tensors = alignment.cases()
    write("alignment", cases)
    save_file(tensors, FOLDER / "alignment.safetensors")
    write("paths", alignment.paths())
    log_mels = {name: each.numpy() for case in log_mel.cases() for name, each in case.tensors().items()}
    save_file(log_mels, FOLDER / "log_mel.safetensors")
    for module in resampling, segments, speech_spans, transcripts, voice_activity, word_tokens:
        write(module.__name__.removeprefix("cases."), module.cases())
    write("speech_times", speech_spans.times())


if __name__ == "__main__":
    main()
