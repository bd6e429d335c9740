#pragma once

#include <encdec/models/generation/generation_settings.h>
#include <encdec/models/model.h>

#include <CLI/App.hpp>
#include <cstdint>
#include <string>

#include "arguments/arguments.h"
#include "encdec/lines.h"

namespace encdec::cli {

// Options that several subcommands have, so that they mean the same everywhere. They stand where a command's help has
// them.
void add_model_option(CLI::App& command, std::string& folder);
void add_input_option(CLI::App& command, std::string& path, const std::string& content);
void add_output_option(CLI::App& command, std::string& path, const std::string& content);
// --token-ids
void add_token_ids_option(CLI::App& command, LineForm& form, const std::string& lines);
void add_language_options(CLI::App& command, std::string& source, std::string& target);
// 0, the default, is what the library chooses.
void add_batch_size_option(CLI::App& command, int& batch_size);

// An option that takes a path, and one that takes a number and tells its default.
CLI::Option* add_file_option(CLI::App& command, const char* name, std::string& path, const std::string& description);
CLI::Option* add_number_option(CLI::App& command, const char* name, int& number, const std::string& description);

// What the commands that run a model have in common: which one, and how.
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
  // --workers: 0 for as many as suit the input
  void add_workers_option(CLI::App& command, int& workers);

  // How many workers there are, for input that keeps `busy` of them at work; sets the threads of each. A CPU is busier
  // with a batch of its own than with its part of each step: workers that are not given are one for each CPU, those
  // that are given share the CPUs. Neither where the number of threads is given: then a worker has those.
  int share_cpus(int workers, std::int64_t busy);

  LoadOptions load_options() const {
    return {.threads = threads, .precision = precision, .packed_weights_cache = weights_cache};
  }
  // Loads the model; says on standard error where its precision is not to the letter what was asked for, and what is
  // wrong with its cache of packed weights.
  Model load() const;
  // The same for models that read text; throws ConfigError, naming the folder, for others.
  Model load_reader() const;
  // The same for lines of this form. Throws TokenizerError, naming the folder, for texts without a tokenizer.
  Model load_for(LineForm form) const;
  // The same for models that generate; throws ConfigError, naming the folder, for others.
  Model load_generator(LineForm form) const;
  // Tells a user at a terminal, before the first line is read from there, how to end the input.
  void note_typed_input(const std::string& path) const;
  // Throws ConfigError, naming the folder, where languages are given to a model that knows none by name.
  void check_languages(const Model& model, const std::string& source, const std::string& target) const;

 private:
  void check_form(const Model& model, LineForm form) const;
};

// Throws UsageError where a file that a command would write is another one of them, or one that it reads, which would
// be lost; `generate` alone may replace its input, where both options give the same path. Files are the same if they
// have the same device and inode.
void check_files(const CLI::App& command);

// For CLI::Option::check: "'0', expected an integer from 1 to 1024".
CLI::Validator integer_from(std::int64_t min, std::int64_t max);
// "'nan', expected a number from -1000 to 1000".
CLI::Validator number_from(double min, double max);
// "'1 x', expected token ids separated by spaces".
CLI::Validator token_id_list();

// More lines than that in one batch, more beams and so on, is a typing error.
inline constexpr int kMaxBatchSize = 65536;
inline constexpr int kMaxBeams = kMaxSequences;
inline constexpr int kMaxTokens = kMaxTokenCount;

}  // namespace encdec::cli
