#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "encdec/speech/live/live_session.h"
#include "encdec/speech/transcript/transcript_format.h"
#include "encdec/speech/transcription/transcribe_options.h"

namespace encdec::python {

// These functions read keyword arguments as described in python/src/options.h.
TranscribeOptions transcribe_options(const nanobind::dict& keywords);
// `keywords` are the options of a live session, `transcribe` the options of transcribe().
LiveOptions live_options(const nanobind::dict& keywords, const nanobind::dict& transcribe);
TranscriptLineOptions transcript_line_options(const nanobind::dict& keywords);
// These functions return all names that transcribe_options() and live_options() accept.
std::vector<std::string> transcribe_option_names();
std::vector<std::string> live_option_names();

// These functions convert transcripts to and from dicts with the fields of transcript.py.
nanobind::object to_python(const std::vector<TranscriptSegment>& segments);
nanobind::object to_python(const Transcript& transcript);
// The keys are the fields of LiveEvent in live.py.
nanobind::object to_python(const LiveEvent& event);
Transcript transcript_from(const nanobind::dict& fields);

}  // namespace encdec::python
