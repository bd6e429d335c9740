#pragma once

#include <nanobind/nanobind.h>

#include <exception>

#include "encdec/models/model.h"

namespace encdec::python {

// Convert results to dicts, whose keys are the fields of the classes in encdec/results.py.

nanobind::object to_python(const TokenIds& tokens);
// Returns None for a source that the model does not accept, which has no hypotheses.
nanobind::object to_python(const GenerateResult& result);
// Returns the ids "source", "decoder_input" and "target", and "maps": {kind: array [layers, heads, queries, keys]}.
nanobind::object to_python(const AttentionMaps& maps);

// Converts a C++ exception to an exception of encdec/_errors.py, a MemoryError or a RuntimeError.
nanobind::object to_python(const std::exception_ptr& failure);

}  // namespace encdec::python
