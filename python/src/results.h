#pragma once

#include <nanobind/nanobind.h>

#include <exception>

#include "encdec/models/model.h"

namespace encdec::python {

// Convert results to dicts, whose keys are the names of fields of the classes in encdec/results.py.

nanobind::object to_python(const TokenIds& tokens);
// Returns None if there are no hypotheses, because the model does not accept the source.
nanobind::object to_python(const GenerateResult& result);
// Returns the ids "source", "decoder_input" and "target", and "maps": {kind: array [layers, heads, queries, keys]}.
nanobind::object to_python(const AttentionMaps& maps);

// Returns the Python exception for a C++ exception: a class of encdec/_errors.py for an error of the library, else
// MemoryError or RuntimeError.
nanobind::object to_python(const std::exception_ptr& failure);

}  // namespace encdec::python
