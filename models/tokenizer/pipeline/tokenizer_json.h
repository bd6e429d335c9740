#pragma once

#include <string>
#include <string_view>

#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/pipeline/pipeline_tokenizer.h"

namespace encdec {

// A tokenizer.json as Hugging Face's tokenizers 0.23 writes it, older ones too. Truncation and padding in it do not
// count. Throws FileError for what is not JSON; TokenizerError or ConfigError, naming the file, the place, what was
// found and what was expected, for kinds that are not known, values of the wrong type, and parts that do not fit
// together.
PipelineParts parse_tokenizer_json(std::string_view json, const std::string& name);

// What its post-processor puts around texts. Throws the same.
Affixes read_post_processor(const JsonObject& part);

}  // namespace encdec
