#pragma once

#include <encdec/models/model.h>

#include <CLI/App.hpp>
#include <string>

#include "lines.h"

namespace encdec::cli {

// What the commands that run a model have in common: which one, and how. Options stand where a command's help has them.
struct ModelArguments {
  std::string folder = {};
  int threads = 0;
  Precision precision = Precision::float32;
  std::string weights_cache = {};
  bool quiet = false;

  // --threads, --precision, --weights-cache
  void add_load_options(CLI::App& command);
  // --quiet
  void add_quiet_option(CLI::App& command, const std::string& description);

  // Loads the model; says on standard error where its precision is not to the letter what was asked for, and what is
  // wrong with its cache of packed weights.
  Model load() const;
  // The same for lines of this form. Throws TokenizerError, naming the folder, for texts without a tokenizer.
  Model load_for(LineForm form) const;
};

}  // namespace encdec::cli
