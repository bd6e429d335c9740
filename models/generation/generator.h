#pragma once

#include "encdec/models/generation/prompter.h"

namespace encdec {

// Generates results for all inputs of a stream. Throws as Model::generate(); in particular ConfigError for options that
// are out of range or not supported by this model.
void generate(const ModelParts& parts, const GenerateOptions& options, GenerateStream& stream);

}  // namespace encdec
