#pragma once

#include <encdec/models/model.h>

#include <CLI/App.hpp>
#include <string>

#include "token_lookup.h"

namespace encdec::cli {

// The options of `generate` that say what to generate, as they are typed.
struct GenerationArguments {
  GenerateOptions options;  // those that need no vocabulary
  std::string forced_bos_token;
  std::string forced_eos_token;
  std::string suppress_tokens;
  std::string begin_suppress_tokens;
  std::string bad_words_file;
  std::string force_words_file;
  std::string shortlist_file;
};

// Named as in Hugging Face's GenerationConfig, and grouped by what they are for.
void add_generation_options(CLI::App& command, GenerationArguments& arguments);

// The options with the tokens that names, ids and files stand for. Throws ConfigError, InputError and FileError.
GenerateOptions with_tokens(const GenerationArguments& arguments, const TokenLookup& lookup);

}  // namespace encdec::cli
