#pragma once

#include "encdec/models/generation/prompter.h"

namespace encdec {

// Generates for all inputs of a stream: from options to settings, from texts to prompts, and back. Throws ConfigError
// for options that are out of range, or that this model does not support; else as Model::generate() does.
void generate(const ModelParts& parts, const GenerateOptions& options, GenerateStream& stream);

}  // namespace encdec
