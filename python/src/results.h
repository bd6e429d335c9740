#pragma once

#include <nanobind/nanobind.h>

#include <exception>

#include "encdec/encoders/classifier.h"
#include "encdec/models/model.h"
#include "encdec/speech/live/live_session.h"
#include "encdec/speech/transcript/transcript.h"

namespace encdec::python {

// Convert results to dicts, whose keys are the names of fields of the classes in encdec/results.py.

nanobind::object to_python(const TokenIds& tokens);
// Returns None if there are no hypotheses, because the model does not accept the source.
nanobind::object to_python(const GenerateResult& result);
// Returns an array, or a dict for class SparseVector.
nanobind::object to_python(VectorResult result);
// Returns a list of dicts for class Entity.
nanobind::object to_python(const std::vector<Entity>& entities);
// Returns the ids "source", "decoder_input" and "target", and "maps": {kind: array [layers, heads, queries, keys]}.
nanobind::object to_python(const AttentionMaps& maps);

// Convert transcripts to and from dicts, whose keys are the names of fields of the classes in encdec/transcript.py.
nanobind::object to_python(const std::vector<TranscriptSegment>& segments);
nanobind::object to_python(const Transcript& transcript);
// The keys are the names of fields of LiveEvent in encdec/live.py.
nanobind::object to_python(const LiveEvent& event);
Transcript transcript_from(const nanobind::dict& fields);

// Returns the Python exception for a C++ exception: a class of encdec/_errors.py for an error of the library, else
// MemoryError or RuntimeError.
nanobind::object to_python(const std::exception_ptr& failure);

}  // namespace encdec::python
