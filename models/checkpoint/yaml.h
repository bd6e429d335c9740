#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "encdec/models/checkpoint/json.h"

namespace encdec {

// Parses one YAML document to JSON values. Plain scalars follow the core schema of YAML 1.2: null, true, false,
// integers (also 0o17 and 0x1f) and floats. .inf and .nan become strings, because JSON has no such numbers. Quoted
// scalars and all keys are strings. In a line that begins with ",: ", the key is ",", because some vocabularies contain
// it. Throws FileError, naming `file` and the line, for text that is not YAML in UTF-8, for more than kMaxJsonDepth
// levels, and for anything that JSON cannot express: anchors, aliases, tags, keys that are not scalars, duplicate keys,
// several documents.
nlohmann::json parse_yaml(std::string_view text, const std::string& file);

// Reads a YAML file whose top level is a mapping. Throws FileError if the file cannot be read, is
// larger than `max_bytes`, or is refused by parse_yaml().
JsonObject read_yaml_object(const std::filesystem::path& path, std::size_t max_bytes = kMaxConfigBytes);

}  // namespace encdec
