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
  GenerateOptions options;  // values that need no vocabulary
  // Settings that name tokens: names, ids or files.
  std::vector<std::pair<const OptionRow<GenerateOptions>*, std::string>> token_texts;
};

// Adds the options of generation_settings() that have a group, and of generation_call_options().
void add_generation_options(CLI::App& command, GenerationArguments& arguments);

// Returns the options, with the typed names, ids and files converted to token ids. Lines of files have this form; text
// needs a tokenizer. Throws ConfigError, InputError and FileError. Their messages begin with the option, or with the
// file and line.
GenerateOptions with_tokens(const GenerationArguments& arguments, const Model& model, LineForm form);

}  // namespace encdec::cli
