"""Typical calls with their types. mypy checks this file; it is not run."""

from pathlib import Path
from typing import TYPE_CHECKING, assert_type

import numpy
import numpy.typing

import encdec

if TYPE_CHECKING:

    async def use(path: Path) -> None:
        model = encdec.Model(path, precision="int8", threads=2, workers=1, weights_cache=None, lazy=True)
        assert_type(model.translate("a"), str)
        assert_type(model.translate(["a"], num_beams=4, early_stopping="never"), list[str])
        assert_type(model.translate(["a", None], on_error="null"), list[str | None])
        assert_type(model.generate("a", seed=3), list[encdec.GenerateResult])
        assert_type(model.generate([[1, 2]], on_error="null"), list[encdec.GenerateResult | None])
        assert_type(model.generate(numpy.array([1, 2]))[0].hypotheses[0].token_ids, list[int])
        for result in model.generate_iter(line for line in open(path)):
            assert_type(result, encdec.GenerateResult)
        for piece in model.stream("a", top_p=0.9):
            assert_type(piece, str)
        async for piece in model.astream("a"):
            assert_type(piece, str)
        assert_type(await model.agenerate(["a"]), list[encdec.GenerateResult])
        assert_type(model.embed(["a"], normalize=True), numpy.typing.NDArray[numpy.float32])
        assert_type(await model.aembed("a"), numpy.typing.NDArray[numpy.float32])
        assert_type(model.embed_sparse("a", prompt_name="query").token_ids, list[int])
        assert_type(model.embed_sparse(["a"]), list[encdec.SparseVector])
        assert_type(model.embed_tokens(["a"]), list[numpy.typing.NDArray[numpy.float32]])
        assert_type(model.embed_colbert("a"), numpy.typing.NDArray[numpy.float32])
        assert_type(model.score("a", "b"), encdec.ScoreResult)
        assert_type(model.score(["a"], ["b"]), list[encdec.ScoreResult])
        assert_type(model.attention("a", kinds="cross").source, list[str])
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
        assert_type(encdec.open_model(path), encdec.Model)
        assert_type(model.tokenizer, encdec.Tokenizer | None)
        translator = encdec.Translator(["en_*", model], glossary={"a": "b"}, do_not_translate=["c"], threads=2)
        assert_type(translator.translate("a", "en", "de", alternatives=1), encdec.Translation)
        assert_type(translator.translate(["a"], via="never", html=True).pop().terms, list[encdec.Term])
        assert_type(await translator.atranslate("a", target="de"), encdec.Translation)
        assert_type(await translator.atranslate(["a"]), list[encdec.Translation])
        assert_type(translator.routes(), list[tuple[str, ...]])
        assert_type(translator.translate_file(path, to="de", entries="all", on_progress=print).output, str)
        document = encdec.documents.read(path, format="srt", line_width=37)
        assert_type(document.segments, list[encdec.documents.Segment])
        assert_type(document.write(["a", None, document.segments[0]]).content, bytes)
        translator.translate("a", num_beem=4)  # type: ignore[call-overload]
        model.translate("a", num_beem=4)  # type: ignore[call-overload]
        model.generate("a", num_beams="4")  # type: ignore[call-overload]
        model.transcribe(path, beam=4)  # type: ignore[call-overload]
        transcript.to("sub")  # type: ignore[arg-type]
        encdec.Model(path, precision="float8")  # type: ignore[arg-type]
        encdec.Model(path, precison="int8")  # type: ignore[arg-type]
