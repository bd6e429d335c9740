"""The methods of class Model for recordings."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from .. import _base, _encdec, _inputs, _requests
from .._errors import ConfigError
from .._options import check_names
from . import _engine, recordings, requests
from . import options as _options
from .live import LiveSession, open_session
from .transcript import Alignment, Transcript, TranscriptSegment, make_alignment, make_segment, make_transcript

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .recordings import Recording

Audio = TypeVar("Audio", bound="Recording | None")


class Model(_base.Model):
    _speech_here: _engine.SpeechModel | None = None

    def _loaded(self, core: _encdec.Model) -> None:
        super()._loaded(core)
        if core.reads_audio:
            self._speech_here = _engine.SpeechModel(core)

    @property
    def _speech(self) -> _engine.SpeechModel:
        return self._speech_here or _engine.SpeechModel(self._core)

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
        float from -1 to 1, or int16; ``sampling_rate`` is the number of samples per second (16,000). Wheels read only
        WAV files; FLAC, MP3, Ogg and other formats need a build with libsndfile.

        These options have the names and meanings of openai-whisper. Defaults are in parentheses:

        - ``language``: a code or a name (None: detected).
        - ``task``: ``"transcribe"`` or ``"translate"``.
        - ``temperature``: a number, or several to try in order until a window's text is neither repetitive nor improbable
          (0.0, 0.2, ... 1.0).
        - ``beam_size`` (5), ``best_of`` (5), ``patience``, ``length_penalty``, ``suppress_tokens`` ([-1]).
        - ``initial_prompt``, ``carry_initial_prompt``, ``condition_on_previous_text`` (True).
        - ``compression_ratio_threshold`` (2.4), ``logprob_threshold`` (-1.0), ``no_speech_threshold`` (0.6); None
          disables a threshold.
        - ``without_timestamps``, ``max_initial_timestamp`` (1.0), ``clip_timestamps``.
        - ``word_timestamps``, ``prepend_punctuations``, ``append_punctuations``, ``hallucination_silence_threshold``.

        Further options:

        - ``hotwords``: words to put before the previous text of every window.
        - ``vad_model``: a .safetensors file of Silero's voice activity detector. Only speech is transcribed.
        - ``vad_parameters``: a dict of the detector's options, with faster-whisper's keys.
        - ``prompt_reset_on_temperature`` (0.5), ``seed``.
        - ``drafts``: for each recording a probable text, such as an earlier transcript, or None. Its tokens are draft
          tokens: they make greedy search faster if they are right, and never change the transcript.
        - ``prompt_lookup_num_tokens``: more draft tokens, from earlier occurrences of the last tokens.
        - ``num_assistant_tokens``: draft tokens per step (None: adapts to how many are accepted).
        - ``batch_size``, ``workers``: results do not depend on these.
        - ``on_error="null"``: return None for an unreadable recording.

        Raises TypeError for an unknown option, ConfigError for an option out of range and for a model that is not for
        speech, and FileError or InputError for an unreadable recording.

        >>> transcript = speech_model.transcribe(recording, language="German", beam_size=1)
        >>> transcript.language, transcript.duration
        ('de', 0.5)
        >>> transcript.segments[0].start < transcript.segments[0].end
        True
        """
        sounds, single, options = self._sounds("transcribe", audio, sampling_rate, on_error, options)
        null = _inputs.is_null(on_error)
        if not null:
            for sound in sounds:
                sound.open()  # reports a missing file now, not after hours
        numbered = ((number, each) for number, each in enumerate(sounds))
        found = dict(requests.transcripts(self._speech, numbered, options, null))
        return self._transcripts([found[number] for number in range(len(sounds))], single, options)

    @overload
    async def atranscribe(  # type: ignore[overload-overlap]
        self, audio: Recording, *, sampling_rate: int | None = None, **options: Unpack[_options.TranscribeOptions]
    ) -> Transcript: ...
    @overload
    async def atranscribe(
        self,
        audio: Iterable[Recording],
        *,
        sampling_rate: int | None = None,
        on_error: Literal["raise"] = "raise",
        **options: Unpack[_options.TranscribeOptions],
    ) -> list[Transcript]: ...
    @overload
    async def atranscribe(
        self,
        audio: Iterable[Recording | None],
        *,
        sampling_rate: int | None = None,
        on_error: Literal["null"],
        **options: Unpack[_options.TranscribeOptions],
    ) -> list[Transcript | None]: ...
    async def atranscribe(
        self, audio: Any, *, sampling_rate: int | None = None, on_error: str = "raise", **options: Any
    ) -> Any:
        """The awaitable form of ``transcribe``. Recordings of many tasks share batches.

        Cancelling the task stops its recordings.

        >>> import asyncio
        >>> asyncio.run(speech_model.atranscribe(recording)) == speech_model.transcribe(recording)
        True
        """
        sounds, single, options = self._sounds("atranscribe", audio, sampling_rate, on_error, options)
        there = [sound for sound in sounds if sound is not None]
        values = iter(await self._gather_sounds(there, options, _inputs.is_null(on_error)))
        return self._transcripts([each and next(values) for each in sounds], single, options)

    async def _gather_sounds(self, sounds: list[_engine.Sound], options: Any, null: bool) -> list[Any]:
        queue, speech = self._queue, self._speech

        def submit(inbox: _encdec.Inbox, number: int, indices: list[int]) -> _encdec.Request:
            return _engine.submit_sound(queue, inbox, number, speech, sounds[indices[0]], options)

        return await _requests.gather(submit, len(sounds), null, one_by_one=True)

    @overload
    def align(  # type: ignore[overload-overlap]
        self, audio: Recording, text: str, *, sampling_rate: int | None = None, **options: Unpack[_options.AlignOptions]
    ) -> Alignment: ...
    @overload
    def align(
        self,
        audio: Iterable[Recording],
        text: Iterable[str],
        *,
        sampling_rate: int | None = None,
        **options: Unpack[_options.AlignOptions],
    ) -> list[Alignment]: ...
    def align(self, audio: Any, text: Any, *, sampling_rate: int | None = None, **options: Any) -> Any:
        """Returns when each word and line of a known text is said in a recording (forced alignment). Returns a list for
        lists of recordings and texts.

        Words that are not found are in ``unaligned``. Takes the same recordings as ``transcribe``, and these of its
        options: ``language``, ``vad_model``, ``vad_parameters``, ``batch_size`` and ``workers``.

        Raises InputError for a text without words, and the errors of ``transcribe``.

        >>> alignment = speech_model.align(recording, "A text\\nof two lines.")
        >>> [line.text for line in alignment.segments], len(alignment.words) + len(alignment.unaligned)
        (['A text', 'of two lines.'], 5)
        """
        sounds, single, options = self._known_texts("align", audio, text, sampling_rate, options)
        for sound in sounds:
            sound.open()
        found = dict(requests.transcripts(self._speech, enumerate(sounds), options, False))
        alignments = [make_alignment(found[number]) for number in range(len(sounds))]
        return alignments[0] if single else alignments

    @overload
    async def aalign(  # type: ignore[overload-overlap]
        self, audio: Recording, text: str, *, sampling_rate: int | None = None, **options: Unpack[_options.AlignOptions]
    ) -> Alignment: ...
    @overload
    async def aalign(
        self,
        audio: Iterable[Recording],
        text: Iterable[str],
        *,
        sampling_rate: int | None = None,
        **options: Unpack[_options.AlignOptions],
    ) -> list[Alignment]: ...
    async def aalign(self, audio: Any, text: Any, *, sampling_rate: int | None = None, **options: Any) -> Any:
        """The awaitable form of ``align``. Cancelling the task stops its recordings."""
        sounds, single, options = self._known_texts("aalign", audio, text, sampling_rate, options)
        alignments = [make_alignment(each) for each in await self._gather_sounds(sounds, options, False)]
        return alignments[0] if single else alignments

    def _known_texts(
        self, function: str, audio: Any, text: Any, sampling_rate: int | None, options: Any
    ) -> tuple[list[Any], bool, dict[str, Any]]:
        """Returns the recordings with their texts, whether the argument was a single one, and the options."""
        check_names(function, options, _options.ALIGN)
        sounds, single, options = self._sounds(function, audio, sampling_rate, "raise", options)
        if isinstance(text, str) and not single:
            raise TypeError("text: a str for a list of recordings, expected a list with one text per recording")
        for sound, each in zip(sounds, _inputs.one_each("text", text, len(sounds), single)):
            if not isinstance(each, str):
                raise TypeError(f"text: {type(each).__name__}, expected str")
            sound.set_text(each)
        return sounds, single, options

    def _sounds(
        self, function: str, audio: Any, sampling_rate: int | None, on_error: str, options: Any
    ) -> tuple[list[Any], bool, dict[str, Any]]:
        """Returns the recordings for the engine, whether the argument was a single one, and the options."""
        options = self._transcribe_options(function, options)
        null = _inputs.is_null(on_error)
        given, single = recordings.as_list(audio)
        drafts = _inputs.one_each("draft", options.pop("drafts", None), len(given), single)
        sounds = []
        for number, (each, draft) in enumerate(zip(given, drafts), 1):
            name = "audio" if single else f"recording {number}"
            sound = recordings.make_sound(each, name, sampling_rate, null)
            if draft is not None and not isinstance(draft, str):
                raise TypeError(f"drafts: {type(draft).__name__}, expected str or None")
            if sound is not None and draft is not None:
                sound.set_draft(draft)
            sounds.append(sound)
        return sounds, single, options

    def _transcripts(self, found: list[Any], single: bool, options: Any) -> Any:
        has_words = bool(options.get("word_timestamps"))
        transcripts = [each and make_transcript(each, has_words) for each in found]
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
        order in which they are finished. So a long recording does not delay the shorter ones after it. At most 48
        recordings per worker are read ahead, so memory does not grow with their number.

        Closing the iterator stops the work. Python closes it when the last reference is gone.

        >>> [segment.id for segment in speech_model.transcribe_iter(recording)]
        [0, 1]
        >>> [transcript.duration for path, transcript in speech_model.transcribe_iter([recording, recording])]
        [0.5, 0.5]
        """
        if options.pop("drafts", None) is not None:
            raise TypeError("transcribe_iter: found drafts, expected none; use transcribe()")
        options = self._transcribe_options("transcribe_iter", options)
        null = _inputs.is_null(on_error)
        if recordings.is_single(audio):
            if null:
                raise ValueError("on_error is 'null', expected 'raise' for the segments of one recording")
            return _segments(self._speech, recordings.make_sound(audio, "audio", sampling_rate, False), options)
        return _pairs(self._speech, recordings.as_iterable(audio), sampling_rate, null, options)

    def live(
        self,
        *,
        sampling_rate: int = recordings.SAMPLING_RATE,
        partials: bool | Literal["always"] = True,
        **options: Unpack[_options.LiveOptions],
    ) -> LiveSession:
        """Returns a session that transcribes speech while it is spoken.

        Speech is split into utterances at pauses, and ``transcribe`` is applied to each. The texts depend only on the
        samples. Takes the options of ``transcribe``, and:

        - ``partials``: also send partial texts of the current utterance. If the model is too slow, some are skipped,
          except with ``"always"``.
        - ``step_ms`` (1000): speech between two partial texts.
        - ``silence_duration_ms`` (500): silence that ends an utterance.
        - ``prefix_padding_ms`` (300): audio before speech to include in the utterance.
        - ``threshold`` (0.5): probability at which speech begins.
        - ``max_utterance_s``: a longer utterance is split where it is quietest (0: 14/15 of the model's window).
        - ``finds_utterances=False``: the caller ends utterances with ``commit()``.

        ``vad_model`` detects speech; without it, loudness does. Raises the errors of ``transcribe``.

        >>> import numpy
        >>> with speech_model.live() as session:
        ...     session.feed(numpy.zeros(16_000, "float32"))
        ...     session.finish()
        ...     [event.text for event in session if event.kind == "final"]
        []
        """
        check_names("live", options, _options.TRANSCRIBE | _options.LIVE)
        live: dict[str, Any] = {name: value for name, value in options.items() if name in _options.LIVE}
        live["partials"] = partials if isinstance(partials, str) else "auto" if partials else "none"
        others = {name: value for name, value in options.items() if name not in live}
        return open_session(self._queue, self._speech, live, self._transcribe_options("live", others), sampling_rate)

    def _transcribe_options(self, function: str, options: dict[str, Any]) -> dict[str, Any]:
        check_names(function, options, _options.TRANSCRIBE)
        for name, kind in (("suppress_tokens", int), ("clip_timestamps", float)):
            if isinstance(options.get(name), str):
                options[name] = _parse_numbers(name, options[name], kind)
        if isinstance(options.get("vad_model"), (str, os.PathLike)):
            options["vad_model"] = os.fsencode(_inputs.as_path(options["vad_model"]))
        if options.get("workers") is None:
            options["workers"] = self._settings["workers"]
        return options


def _segments(
    model: _engine.SpeechModel, sound: _engine.Sound | None, options: Any
) -> Generator[TranscriptSegment, None, Transcript]:
    assert sound is not None
    has_words = bool(options.get("word_timestamps"))
    segments: list[TranscriptSegment] = []
    fields: dict[str, Any] = {}
    for kind, fields in requests.segments_of(model, sound, options):
        if kind == "segment":
            segments.append(make_segment(fields, has_words))
            yield segments[-1]
    transcript = make_transcript(fields, has_words)
    transcript.segments.extend(segments)
    return transcript


def _pairs(
    model: _engine.SpeechModel, audio: Iterable[Any], sampling_rate: int | None, null: bool, options: Any
) -> Generator[tuple[Any, Transcript | None], None, None]:
    """Yields pairs of a recording and its transcript."""
    under_way: dict[int, Any] = {}

    def sounds() -> Iterator[tuple[int, _engine.Sound | None]]:
        for number, recording in enumerate(audio, 1):
            under_way[number] = recording
            yield number, recordings.make_sound(recording, f"recording {number}", sampling_rate, null)

    has_words = bool(options.get("word_timestamps"))
    for number, fields in requests.transcripts(model, sounds(), options, null):
        yield under_way.pop(number), fields and make_transcript(fields, has_words)


def _parse_numbers(name: str, text: str, kind: Callable[[str], float]) -> list[float]:
    """Returns the numbers in a text such as "1,2,3". openai-whisper accepts these texts, too."""
    try:
        return [kind(each) for each in text.split(",") if each.strip()]
    except ValueError:
        raise ConfigError(f"{name} is {text!r}, expected numbers separated by commas") from None
