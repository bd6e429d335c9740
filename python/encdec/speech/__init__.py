"""Transcribes recordings."""

from .live import LiveEvent, LiveSession
from .methods import Model as METHODS
from .pipelines import SpeechRecognition
from .transcript import AlignedLine, Alignment, Transcript, TranscriptSegment, TranscriptWord, UnalignedWord

PIPELINES = {"automatic-speech-recognition": SpeechRecognition}

__all__ = [
    "Transcript",
    "TranscriptSegment",
    "TranscriptWord",
    "Alignment",
    "AlignedLine",
    "UnalignedWord",
    "LiveSession",
    "LiveEvent",
]
