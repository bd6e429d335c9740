"""Typical calls with their types. mypy checks this file; it is not run."""

from pathlib import Path
from typing import TYPE_CHECKING, assert_type

import numpy

import encdec

if TYPE_CHECKING:

    async def use(path: Path, model: encdec.Model) -> None:
        assert_type(model.transcribe(path, language="de", temperature=0, log_prob_threshold=None), encdec.Transcript)
        assert_type(model.transcribe(b"RIFF", beam_size=None), encdec.Transcript)
        assert_type(model.transcribe(open(path, "rb"), clip_timestamps="0,5"), encdec.Transcript)
        assert_type(model.transcribe(numpy.zeros(3, numpy.float32), sampling_rate=8000), encdec.Transcript)
        assert_type(model.transcribe([path, "a.wav"], temperature=(0.0, 0.2)), list[encdec.Transcript])
        assert_type(model.transcribe([path, None], on_error="null"), list[encdec.Transcript | None])
        for segment in model.transcribe_iter("a.wav", word_timestamps=True):
            assert_type(segment, encdec.TranscriptSegment)
            assert_type(segment.words, list[encdec.TranscriptWord] | None)
        for wav, transcript in model.transcribe_iter(path.glob("*.wav")):
            assert_type(wav, Path)
            assert_type(transcript, encdec.Transcript)
        for name, found in model.transcribe_iter(["a.wav"], on_error="null"):
            assert_type(name, str)
            assert_type(found, encdec.Transcript | None)
        assert_type(transcript.to("srt", max_line_width=40, max_line_count=2), str)
        model.transcribe(path, beam=4)  # type: ignore[call-overload]
        transcript.to("sub")  # type: ignore[arg-type]
