#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "encdec/models/speech/live/live_session.h"
#include "encdec/models/speech/transcript/transcript.h"

namespace encdec::python {

// Convert transcripts to and from dicts, whose keys are the names of fields of the classes in encdec/transcript.py.
nanobind::object to_python(const std::vector<TranscriptSegment>& segments);
nanobind::object to_python(const Transcript& transcript);
// The keys are the names of fields of LiveEvent in encdec/live.py.
nanobind::object to_python(const LiveEvent& event);
Transcript transcript_from(const nanobind::dict& fields);

}  // namespace encdec::python
