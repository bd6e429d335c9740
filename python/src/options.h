#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/model.h"

namespace encdec::python {

// Return the options that keyword arguments set. Throw TypeError for an unknown name or a wrong type, and ConfigError
// for a value out of range. The library makes further checks.
GenerateOptions generate_options(const nanobind::dict& keywords);
ScoreOptions score_options(const nanobind::dict& keywords);
AttentionKind attention_kind(std::string_view word);  // "encoder", "decoder" or "cross"
AttentionMapOptions attention_options(const nanobind::dict& keywords);
LoadOptions load_options(const nanobind::dict& keywords);

// Returns all names that generate_options() accepts: the library's names, and transformers' names where they differ.
std::vector<std::string> generate_option_names();

// Returns the settings that have a value, by transformers' names.
nanobind::dict to_dict(const GenerateOptions& options);

}  // namespace encdec::python
