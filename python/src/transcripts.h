#pragma once

#include <nanobind/nanobind.h>

#include "encdec/models/speech/transcript/transcript.h"

namespace encdec::python {

// Transcripts as plain tuples: encdec/transcript.py makes objects of them.

// Whether segments come with words.
enum class Words : bool { no, yes };

// (id, seek, start, end, text, tokens, temperature, avg_logprob, compression_ratio, no_speech_prob, words); words:
// [(word, start, end, probability)...], or None.
nanobind::object to_python(const TranscriptSegment& segment, Words words);
// (text, language, language_probability, duration, [segment...])
nanobind::object to_python(const Transcript& transcript, Words words);

// The other way.
Transcript transcript_from(nanobind::handle parts);

}  // namespace encdec::python
