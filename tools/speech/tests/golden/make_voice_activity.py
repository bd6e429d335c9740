#!/usr/bin/env python3
"""Makes voice_activity.json (Silero VAD's graph in PyTorch, with weights from a formula), and speech_spans.json and
speech_times.json (the results of faster-whisper for probabilities of speech).

    pip install numpy==2.4.6 torch==2.15.0 faster-whisper==1.2.1
    python make_voice_activity.py

The cases are in cases/. A second run writes the same bytes.
"""

import json
from pathlib import Path

from cases import speech_spans, voice_activity

FOLDER = Path(__file__).parent


def write(name, cases):
    lines = ",\n".join(json.dumps(case) for case in cases)
    (FOLDER / f"{name}.json").write_text(f"[\n{lines}\n]\n")
    print(f"{name}: {lines.count(chr(10)) + 1} cases")


def main():
    write("voice_activity", voice_activity.cases())
    write("speech_spans", speech_spans.cases())
    write("speech_times", speech_spans.times())


if __name__ == "__main__":
    main()
