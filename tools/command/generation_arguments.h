#pragma once

#include <encdec/models/generation/generation_settings.h>
#include <encdec/models/model.h>

#include <CLI/App.hpp>
#include <string>
#include <utility>
#include <vector>

#include "command/lines.h"

namespace encdec::cli {

// The generation options of `generate`, as typed.
struct GenerationArguments {
  GenerateOptions options;  // settings that need no vocabulary
  // Settings whose values are tokens, as typed: names, ids or files of tokens.
  std::vector<std::pair<const OptionRow<GenerateOptions>*, std::string>> token_texts;
};

// Adds the options of generation_settings() that have a group, and of generation_call_options().
void add_generation_options(CLI::App& command, GenerationArguments& arguments);

// Converts token_texts to token ids. `form` is the form of lines in files; text needs a tokenizer. Throws ConfigError,
// InputError and FileError, naming the option, or the file and line.
GenerateOptions with_tokens(const GenerationArguments& arguments, const Model& model, LineForm form);

}  // namespace encdec::cli
