#pragma once

#include <encdec/models/generation/generation_settings.h>
#include <encdec/models/model.h>

#include <CLI/App.hpp>
#include <string>
#include <utility>
#include <vector>

#include "encdec/lines.h"

namespace encdec::cli {

// The options of `generate` that say what to generate, as they are typed.
struct GenerationArguments {
  GenerateOptions options;                                          // those that need no vocabulary
  std::vector<std::pair<const Setting*, std::string>> token_texts;  // the others: names, ids and files
};

// An option for each of generation_settings() that has a usage, grouped by what they are for; and languages.
void add_generation_options(CLI::App& command, GenerationArguments& arguments);

// The options with the tokens that names, ids and files stand for. Lines of files are of this form; texts need a
// tokenizer. Throws ConfigError, InputError and FileError, which begin with the option, or the file and line.
GenerateOptions with_tokens(const GenerationArguments& arguments, const Model& model, LineForm form);

}  // namespace encdec::cli
