#pragma once

#include <encdec/engine/base/named_values.h>
#include <encdec/models/generation/generation_settings.h>
#include <encdec/models/model.h>

#include <CLI/App.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "arguments/arguments.h"
#include "command/lines.h"

namespace encdec::cli {

// Checks for CLI::Option::check(). Message: "'0', expected an integer from 1 to 1024".
CLI::Validator integer_from(std::int64_t min, std::int64_t max);
// Message: "'1 x', expected token ids separated by spaces".
CLI::Validator token_id_list();

// Options that several subcommands share. The help lists options in the order in which they are added.
CLI::Option* add_model_option(CLI::App& command, std::string& folder);
// `content` begins the help text, such as "Sources in UTF-8, one per line".
void add_input_option(CLI::App& command, std::string& path, const std::string& content);
void add_output_option(CLI::App& command, std::string& path, const std::string& content);
// Adds --token-ids. `lines` begins the help text, such as "Lines are".
void add_token_ids_option(CLI::App& command, LineForm& form, const std::string& lines);
void add_language_options(CLI::App& command, std::string& source, std::string& target);
// Adds --batch-size. With 0, the default, the library chooses.
void add_batch_size_option(CLI::App& command, int& batch_size);

// Adds an option whose value the help calls `type`: "DIR".
template <class Value>
CLI::Option* add_value_option(CLI::App& command, const std::string& name, Value& value, const char* type,
                              const std::string& description) {
  return command.add_option(name, value, description)->type_name(type);
}
// Adds an option whose value is a path.
inline CLI::Option* add_file_option(CLI::App& command, const char* name, std::string& path,
                                    const std::string& description) {
  return add_value_option(command, name, path, "FILE", description);
}
// Adds an option whose value is an integer from `min` to `max`. The help shows the default.
template <class Number>
CLI::Option* add_number_option(CLI::App& command, const char* name, Number& number, std::int64_t min, std::int64_t max,
                               const std::string& description) {
  return add_value_option(command, name, number, "N", description)
      ->capture_default_str()
      ->check(integer_from(min, max));
}

// Adds an option whose value is one of the words of a table of Named values.
template <class T, std::size_t N, class Value>
CLI::Option* add_words_option(CLI::App& command, const char* name, const std::array<Named<T>, N>& words, Value& value,
                              const std::string& description) {
  const auto set = [&value, &words](const std::string& word) { value = value_named<T>(words, word).value(); };
  return take_words(command.add_option_function<std::string>(name, set, description), names_of(words));
}

void add_backend_option(CLI::App& command, std::optional<BackendChoice>& backend);

// The arguments that all commands with a model share.
struct ModelArguments {
  std::string folder = {};
  LoadOptions load_options = {};
  bool quiet = false;

  // Adds --threads, --precision, --backend and --weights-cache.
  void add_load_options(CLI::App& command);
  // Adds --draft-precision and --draft-model.
  void add_draft_options(CLI::App& command);
  // Writes a note if draft tokens are requested but beam search ignores them. `has_text`: whether there is a draft
  // text.
  void note_unused_drafts(int beams, bool has_text) const;
  // Adds --quiet. `description` begins the help text, such as "No progress bar".
  void add_quiet_option(CLI::App& command, const std::string& description);
  // Adds --workers. With 0, the default, share_cpus() chooses.
  void add_workers_option(CLI::App& command, int& workers);

  // Returns the number of workers. If --threads is not given, sets load_options.threads, the threads of each worker.
  // `workers` is the value of --workers; `busy` is the number of workers that the input can keep busy.
  // - --threads given: `workers`, at least 1.
  // - Only --workers given: `workers`, which share the CPUs equally.
  // - Neither given: `busy`, at most one for each CPU; they share the CPUs equally. More workers are faster than more
  //   threads.
  int share_cpus(int workers, std::int64_t busy);

  // Loads the model. Without --quiet, writes notes on precision, unused weights and the packed-weights cache.
  Model load() const;
  // Like load(). Throws ConfigError for a speech model. Errors of this function and the next functions name the folder.
  Model load_text_model() const;
  // Like load_text_model(). Throws TokenizerError if `form` is text and there is no tokenizer.
  Model load_for(LineForm form) const;
  // Like load_for(). Throws ConfigError for a model without a decoder.
  Model load_generator(LineForm form) const;
  // If `path` is empty and standard input is a terminal, writes to standard error how to end the input.
  void note_typed_input(const std::string& path) const;
  // Throws ConfigError if a language is given but the model has no language codes.
  void check_languages(const Model& model, const std::string& source, const std::string& target) const;

 private:
  void check_form(const Model& model, LineForm form) const;
};

// Returns true if two paths, with symlinks resolved, name one file. Returns false if one of them is empty.
bool are_one_file(const std::string& path, const std::string& other);

// Throws UsageError if the command would write one file twice, or overwrite a file that it reads. Inputs are compared
// by device and inode, outputs by path. Only `generate` may replace its input, if both options give the same path.
void check_files(const CLI::App& command);

// The maximum of --batch-size. A larger number is assumed to be a typo.
inline constexpr int kMaxBatchSize = 65536;

}  // namespace encdec::cli
