#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "encdec/models/model.h"
#include "encdec/models/speech/transcript/subtitles.h"

namespace encdec::python {

// Keyword arguments as the library's options. None leaves a value as it is. Throw TypeError for a wrong type or name,
// ConfigError for what is out of range; the library checks the rest.
GenerateOptions generate_options(const nanobind::dict& keywords);
EmbedOptions embed_options(const nanobind::dict& keywords);
ScoreOptions score_options(const nanobind::dict& keywords);
AttentionMapOptions attention_options(const nanobind::dict& keywords);
TranscribeOptions transcribe_options(const nanobind::dict& keywords);
TranscriptLineOptions transcript_line_options(const nanobind::dict& keywords);
LoadOptions load_options(const nanobind::dict& keywords);

// All names that generate_options() knows: the library's, and transformers' for the same.
std::vector<std::string> generate_option_names();

// Settings that have a value, under the names that transformers gives them.
nanobind::dict to_dict(const GenerateOptions& options);

}  // namespace encdec::python
