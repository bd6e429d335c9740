#pragma once

#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/base/affixes.h"
#include "encdec/models/tokenizer/pipeline/normalizer.h"
#include "encdec/models/tokenizer/pipeline/piece_decoder.h"
#include "encdec/models/tokenizer/pipeline/pre_tokenizer.h"

namespace encdec {

// The parts of a tokenizer.json, each with its "type". They throw ConfigError or TokenizerError, naming the file, the
// way, what was found and what was expected.
Normalizer read_normalizer(const JsonObject& part);
PreTokenizer read_pre_tokenizer(const JsonObject& part);
Affixes read_post_processor(const JsonObject& part);
PieceDecoder read_decoder(const JsonObject& part);

}  // namespace encdec
