"""Transcripts, and the output of openai/whisper's writers for them."""

import io
import json

import numpy as np
from whisper.utils import WriteJSON, WriteSRT, WriteTSV, WriteTXT, WriteVTT

WRITERS = {"txt": WriteTXT, "vtt": WriteVTT, "srt": WriteSRT, "tsv": WriteTSV, "json": WriteJSON}
OPTIONS = [
    {"highlight_words": True}, {"max_line_width": 20}, {"max_line_width": 12, "max_line_count": 2},
    {"max_line_width": 30, "max_line_count": 1, "highlight_words": True}, {"max_line_count": 1}, {"max_words_per_line": 3},
    {"max_words_per_line": 2, "highlight_words": True}, {"max_words_per_line": 3, "max_line_width": 9},
    {"max_line_width": 0, "max_line_count": 0, "max_words_per_line": 0},
]  # fmt: skip
WORDS = (
    " Hello,  world. 東 京。 --> it's\tall\x0bodd \\\"quoted\" \u3000 naïve\u2028 👍🏽 a b\nc d\n e\x7f \x01 end".split(" ")
)


def plain():
    """Returns a transcript without words, as transcribe() returns it, with blanks, arrows, tabs, ties in rounding, and hours."""
    texts = [" First.", " arrow --> here --->>", " tab\tand \\ \"quotes\" \x02\n", " 東京 👍🏽 naïve", "", "\u3000blank\u2028 "]
    times = [0.0, 0.0005, 1.0015, 2.5, 59.9996, 3599.9994, 3600.5, 360000.125]
    numbers = [0.0, -0.2512345678901234, 1e-05, 123456789.0, 0.6000000000000001, 1e22, 5e-324]
    segments = [
        {
            "id": i, "seek": 300 * i, "start": times[i], "end": times[i + 1], "text": text, "tokens": [50364 + i, 1, 2][: i],
            "temperature": 0.2 * i, "avg_logprob": numbers[i], "compression_ratio": numbers[i - 1], "no_speech_prob": numbers[-i],
        }
        for i, text in enumerate(texts)
    ]  # fmt: skip
    return {"text": "".join(texts), "segments": segments, "language": "ja"}


def with_words(random, counts):
    transcript, time, word = {"text": "", "segments": [], "language": "en"}, 0.0, 0
    for i, count in enumerate(counts):
        words = []
        for _ in range(count):
            start = round(time + random.choice([0, 0, 0, 0.5, 3.0, 3.5, 30]), 2)
            time = round(start + random.choice([0, 0.02, 0.31, 1.1]), 2)
            text = ("" if random.random() < 0.2 else " ") + WORDS[word % len(WORDS)]
            words.append({"word": text, "start": start, "end": time, "probability": random.random()})
            word += 1
        text = "".join(w["word"] for w in words)
        start, end = (words[0]["start"], words[-1]["end"]) if words else (time, time)
        segment = plain()["segments"][i % 6] | {"id": i, "start": start, "end": end, "text": text, "words": words}
        transcript["segments"].append(segment)
        transcript["text"] += text
    return transcript


def written(name, transcript, options):
    file = io.StringIO()
    WRITERS[name]("").write_result(transcript, file, None, **options)
    text = file.getvalue()
    # JSON with characters instead of \u escapes.
    return json.dumps(json.loads(text), ensure_ascii=False) if name == "json" else text


def cases():
    random = np.random.default_rng(4)
    transcripts = [{"text": "", "segments": [], "language": "en"}, plain()]
    transcripts += [with_words(random, counts) for counts in ([0], [0, 3, 0, 7, 1, 0], [9, 12, 8])]
    for transcript in transcripts:
        transcript = json.loads(json.dumps(transcript))
        has_words = any("words" in segment for segment in transcript["segments"])
        outputs = [{"format": name, "options": {}, "text": written(name, transcript, {})} for name in WRITERS]
        for options in OPTIONS if has_words else OPTIONS[2:3]:
            for name in ("vtt", "srt") if options == OPTIONS[0] else ("srt",):
                outputs.append({"format": name, "options": options, "text": written(name, transcript, options)})
        yield {"transcript": transcript, "has_words": has_words, "outputs": outputs}
