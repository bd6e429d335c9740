#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "encdec/models/checkpoint/json.h"

namespace encdec {

// Parses one document of YAML as JSON values. Plain scalars are read by the core schema of YAML 1.2: null, true, false,
// integers (0o17 and 0x1f too) and floats; .inf and .nan stay strings, no JSON number can hold them. Quoted scalars and
// all keys are strings. Throws FileError, naming `file` and the line, for text that is not YAML in UTF-8, and for what
// JSON has no words for: anchors, aliases, tags, keys that are not scalars, keys that are there twice, several
// documents; also for more than kMaxJsonDepth levels. A line that begins with ",: " is taken as one with the key ",",
// as some vocabularies have it.
nlohmann::json parse_yaml(std::string_view text, const std::string& file);

// Reads a file whose top level is a mapping. Throws FileError if it cannot be read, is larger than `max_bytes`, or is
// refused by parse_yaml.
JsonObject read_yaml_object(const std::filesystem::path& path, std::size_t max_bytes = kMaxConfigBytes);

}  // namespace encdec
