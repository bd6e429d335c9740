#pragma once

#include <nanobind/nanobind.h>

#include "encdec/models/speech/transcript/transcript.h"

namespace encdec::python {

// Converts transcripts to and from plain tuples, from which encdec/transcript.py builds objects.

// Selects segments with or without words.
enum class Words : bool { no, yes };

// Returns (id, seek, start, end, text, tokens, temperature, avg_logprob, compression_ratio, no_speech_prob, words). The
// last is [(word, start, end, probability)...], or None without words.
nanobind::object to_python(const TranscriptSegment& segment, Words words);
// Returns (text, language, language_probability, duration, [segment...]).
nanobind::object to_python(const Transcript& transcript, Words words);

// Converts such a tuple back to a transcript.
Transcript transcript_from(nanobind::handle parts);

}  // namespace encdec::python
