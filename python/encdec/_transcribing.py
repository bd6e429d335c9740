"""The methods of Model for speech recognition."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from . import _encdec, _inputs, _options, _recordings
from ._lifetime import close_at_exit
from ._waiting import Waiting
from .transcript import Transcript, TranscriptSegment, make_segment, make_transcript

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._recordings import Recording

Audio = TypeVar("Audio", bound="Recording | None")


class Transcribing(Waiting):
    """The part of Model for speech recognition."""

    @overload
    def transcribe(  # type: ignore[overload-overlap]
        self, audio: Recording, *, sampling_rate: int | None = None, **options: Unpack[_options.TranscribeOptions]
    ) -> Transcript: ...
    @overload
    def transcribe(
        self,
        audio: Iterable[Recording],
        *,
        sampling_rate: int | None = None,
        on_error: Literal["raise"] = "raise",
        **options: Unpack[_options.TranscribeOptions],
    ) -> list[Transcript]: ...
    @overload
    def transcribe(
        self,
        audio: Iterable[Recording | None],
        *,
        sampling_rate: int | None = None,
        on_error: Literal["null"],
        **options: Unpack[_options.TranscribeOptions],
    ) -> list[Transcript | None]: ...
    def transcribe(
        self, audio: Any, *, sampling_rate: int | None = None, on_error: str = "raise", **options: Any
    ) -> Any:
        """Returns the transcript of a recording, or a list of transcripts for a list of recordings.

        A recording is a path, the bytes of a file, a file opened for bytes, or an array [N] of samples. Samples are
        float from -1 to 1, or int16; ``sampling_rate`` is the number of samples per second (16,000). Files may be WAV.
        FLAC, MP3, Ogg and other formats need a build with libsndfile, which wheels are not.

        These options have the names and meanings of openai-whisper. Defaults are in parentheses:

        - ``language``: a code or a name (None: detected).
        - ``task``: ``"transcribe"`` or ``"translate"``.
        - ``temperature``: tried one after the other until a window's text is neither repetitive nor improbable (0.0,
          0.2, ... 1.0).
        - ``beam_size`` (5), ``best_of`` (5), ``patience``, ``length_penalty``, ``suppress_tokens`` ([-1]).
        - ``initial_prompt``, ``carry_initial_prompt``, ``condition_on_previous_text`` (True).
        - ``compression_ratio_threshold`` (2.4), ``logprob_threshold`` (-1.0), ``no_speech_threshold`` (0.6); None
          disables a threshold.
        - ``without_timestamps``, ``max_initial_timestamp`` (1.0), ``clip_timestamps``.
        - ``word_timestamps``, ``prepend_punctuations``, ``append_punctuations``, ``hallucination_silence_threshold``.

        Further options:

        - ``rules``: ``"transformers"`` decodes as transformers' ``generate()`` does, with its defaults: greedy search
          at one temperature, no thresholds, no previous text.
        - ``chunk_length``: cut recordings into chunks of this length in seconds, which are decoded independently.
        - ``hotwords``: words given to the model before every window.
        - ``vad_model``: a .safetensors file of Silero's voice activity detector. Only speech is transcribed.
        - ``vad_parameters``: a dict with options of the detector, with the keys of faster-whisper.
        - ``prompt_reset_on_temperature`` (0.5), ``seed``.
        - ``batch_size``, ``workers``: results do not depend on these.
        - ``on_error="null"``: return None for a recording that cannot be read.

        Raises TypeError for an unknown option. Raises ConfigError for an option that is out of range, and for a model
        that is not for speech. Raises FileError or InputError for a recording that cannot be read.

        >>> transcript = speech_model.transcribe(recording, language="German", beam_size=1)
        >>> transcript.language, transcript.duration
        ('de', 0.5)
        >>> transcript.segments[0].start < transcript.segments[0].end
        True
        """
        options = self._transcribe_options("transcribe", options)
        null = _inputs.is_null(on_error)
        recordings, single = _recordings.as_list(audio)
        sounds = []
        for number, each in enumerate(recordings, 1):
            name = "audio" if single else f"recording {number}"
            sounds.append(_recordings.make_sound(each, name, sampling_rate, null))
        there = [each for each in sounds if each is not None]
        results = iter(_encdec.transcribe(self._speech, there, options, null))
        found = [each and next(results) for each in sounds]
        transcripts = [each and make_transcript(each) for each in found]
        return transcripts[0] if single else transcripts

    @overload
    def transcribe_iter(  # type: ignore[overload-overlap]
        self, audio: Recording, *, sampling_rate: int | None = None, **options: Unpack[_options.TranscribeOptions]
    ) -> Generator[TranscriptSegment, None, Transcript]: ...
    @overload
    def transcribe_iter(
        self,
        audio: Iterable[Audio],
        *,
        sampling_rate: int | None = None,
        on_error: Literal["raise"] = "raise",
        **options: Unpack[_options.TranscribeOptions],
    ) -> Generator[tuple[Audio, Transcript], None, None]: ...
    @overload
    def transcribe_iter(
        self,
        audio: Iterable[Audio],
        *,
        sampling_rate: int | None = None,
        on_error: Literal["null"],
        **options: Unpack[_options.TranscribeOptions],
    ) -> Generator[tuple[Audio, Transcript | None], None, None]: ...
    def transcribe_iter(
        self, audio: Any, *, sampling_rate: int | None = None, on_error: str = "raise", **options: Any
    ) -> Any:
        """Yields the segments of one recording, or the transcripts of several recordings.

        For one recording: yields each segment as soon as it is final. The generator returns the transcript.

        For an iterable of recordings, which may be endless: yields pairs of a recording and its transcript, in the
        order in which they are finished. So a long recording does not delay shorter ones after it. At most 16
        recordings for each worker wait, and memory does not grow with the number of recordings.

        Closing the iterator stops the work. Python closes it when nothing refers to it any more.

        >>> [segment.id for segment in speech_model.transcribe_iter(recording)]
        [0, 1]
        >>> [transcript.duration for path, transcript in speech_model.transcribe_iter([recording, recording])]
        [0.5, 0.5]
        """
        options = self._transcribe_options("transcribe_iter", options)
        null = _inputs.is_null(on_error)
        if _recordings.is_single(audio):
            if null:
                raise ValueError("on_error is 'null', expected 'raise' for the segments of one recording")
            return _segments(self._speech, _recordings.make_sound(audio, "audio", sampling_rate, False), options)
        return _pairs(self._speech, _recordings.as_iterable(audio), sampling_rate, null, options)

    def _transcribe_options(self, function: str, options: dict[str, Any]) -> dict[str, Any]:
        _options.check_names(function, options, _options.TRANSCRIBE)
        for name, kind in (("suppress_tokens", int), ("clip_timestamps", float)):
            if isinstance(options.get(name), str):
                options[name] = _options.parse_numbers(name, options[name], kind)
        if isinstance(options.get("vad_model"), (str, os.PathLike)):
            options["vad_model"] = os.fsencode(_inputs.as_path(options["vad_model"]))
        if options.get("workers") is None:
            options["workers"] = self._settings["workers"]
        return options


def _segments(
    model: _encdec.SpeechModel, sound: _encdec.Sound | None, options: Any
) -> Generator[TranscriptSegment, None, Transcript]:
    job = _encdec.TranscribeJob(model, options, False, True)
    close_at_exit(job)
    try:
        assert sound is not None
        job.add(sound)
        job.finish()
        segments: list[TranscriptSegment] = []
        while isinstance(event := job.wait(), tuple):
            _, news = event
            if isinstance(news, list):
                for parts in news:
                    segments.append(make_segment(parts))
                    yield segments[-1]
            else:
                transcript = make_transcript((*news[:-1], []))
        transcript.segments.extend(segments)
        return transcript
    finally:
        job.close()


def _pairs(
    model: _encdec.SpeechModel, recordings: Iterable[Any], sampling_rate: int | None, null: bool, options: Any
) -> Generator[tuple[Any, Transcript | None], None, None]:
    """Yields pairs of a recording and its transcript. Iterates over the recordings in the caller's thread."""
    job = _encdec.TranscribeJob(model, options, null, False)
    close_at_exit(job)
    under_way: dict[int, Any] = {}
    try:
        iterator = enumerate(recordings, 1)
        added = 0
        while (event := job.wait()) is not False:
            if isinstance(event, tuple):
                number, parts = event
                yield under_way.pop(number), parts and make_transcript(parts)
                continue
            try:
                number, recording = next(iterator)
            except StopIteration:
                job.finish()
                continue
            sound = _recordings.make_sound(recording, f"recording {number}", sampling_rate, null)
            if sound is None:
                yield recording, None
                continue
            under_way[added] = recording
            added += 1
            job.add(sound)
    finally:
        job.close()
