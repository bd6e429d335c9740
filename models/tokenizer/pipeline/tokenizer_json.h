#pragma once

#include <string>
#include <string_view>

#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/pipeline/pipeline_tokenizer.h"

namespace encdec {

// Parses a tokenizer.json of Hugging Face's tokenizers 0.23 or older. Ignores truncation and padding. Throws FileError
// if `json` is not JSON. Throws TokenizerError or ConfigError, with file, place, found and expected, for unknown kinds
// of parts, values of the wrong type, and parts that do not fit together.
PipelineParts parse_tokenizer_json(std::string_view json, const std::string& name);

// Reads the tokens that the post-processor `part` puts around a text. Throws as parse_tokenizer_json() does.
Affixes read_post_processor(const JsonObject& part);

}  // namespace encdec
