#pragma once

#include <string>
#include <string_view>

#include "encdec/models/tokenizer/pipeline/pipeline_tokenizer.h"

namespace encdec {

struct TokenizerJsonFile;

// Parses a tokenizer.json of Hugging Face's tokenizers 0.23 or older. Ignores truncation and padding. Throws FileError
// if `json` is not JSON. Throws TokenizerError or ConfigError, with file, place, found and expected, for unknown kinds
// of parts, values of the wrong type, and parts that do not fit together.
PipelineParts parse_tokenizer_json(std::string_view json, const std::string& name);
// The same for the content of a file.
// REQUIRES: file.rest is set.
PipelineParts read_pipeline(TokenizerJsonFile file);

}  // namespace encdec
