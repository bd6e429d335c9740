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

// Checks for CLI::Option::check. Message: "'0', expected an integer from 1 to 1024".
CLI::Validator integer_from(std::int64_t min, std::int64_t max);
// Message: "'1 x', expected token ids separated by spaces".
CLI::Validator token_id_list();

// Options that several subcommands share, so that they mean the same everywhere. The help lists options in the order in
// which they are added.
CLI::Option* add_model_option(CLI::App& command, std::string& folder);
// `content` begins the help text, such as "Sources in UTF-8, one per line".
void add_input_option(CLI::App& command, std::string& path, const std::string& content);
void add_output_option(CLI::App& command, std::string& path, const std::string& content);
// Adds --token-ids. `lines` begins the help text, such as "Lines are".
void add_token_ids_option(CLI::App& command, LineForm& form, const std::string& lines);
void add_language_options(CLI::App& command, std::string& source, std::string& target);
// Adds --batch-size. With its default, 0, the library chooses.
void add_batch_size_option(CLI::App& command, int& batch_size);

// Adds an option whose value is called `type` in the help: "DIR".
template <class Value>
CLI::Option* add_value_option(CLI::App& command, const std::string& name, Value& value, const char* type,
                              const std::string& description) {
  return command.add_option(name, value, description)->type_name(type);
}
// Adds an option that takes a path.
inline CLI::Option* add_file_option(CLI::App& command, const char* name, std::string& path,
                                    const std::string& description) {
  return add_value_option(command, name, path, "FILE", description);
}
// Adds an option that takes an integer from `min` to `max`. The help shows its default.
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

// Adds --backend.
void add_backend_option(CLI::App& command, std::optional<BackendChoice>& backend);

// Arguments of all commands that run a model: which model, and how to run it.
struct ModelArguments {
  std::string folder = {};
  LoadOptions load_options = {};
  bool quiet = false;

  // Adds --threads, --precision, --backend and --weights-cache.
  void add_load_options(CLI::App& command);
  // Adds --draft-precision and --draft-model.
  void add_draft_options(CLI::App& command);
  // Writes a note if something is to guess and `beams` make no guesses. `has_text`: a text is to guess.
  void note_unused_guesses(int beams, bool has_text) const;
  // Adds --quiet. `description` begins the help text, such as "No progress bar".
  void add_quiet_option(CLI::App& command, const std::string& description);
  // Adds --workers. Its default, 0, lets share_cpus() choose.
  void add_workers_option(CLI::App& command, int& workers);

  // Returns the number of workers. If --threads is not given, sets load_options.threads, for each worker. `workers` is
  // the value of --workers; `busy` is the number of workers that the input keeps busy.
  // - --threads given: `workers`, at least 1.
  // - Only --workers given: `workers`. The CPUs are divided among them.
  // - Neither given: `busy`, at most one for each CPU. The CPUs are divided among them. This prefers many workers,
  //   because CPUs that compute a batch each are faster than CPUs that share each step of one batch.
  int share_cpus(int workers, std::int64_t busy);

  // Loads the model. Unless --quiet is given, writes notes to standard error: on the precision used, on weights that
  // are not used, and on problems of the cache of packed weights.
  Model load() const;
  // Loads a model that reads text. Throws ConfigError, naming the folder, for a speech model.
  Model load_text_model() const;
  // Loads a model that reads text, for lines of this form. Throws TokenizerError, naming the folder, if the form is
  // text and the folder has no tokenizer.
  Model load_for(LineForm form) const;
  // Loads a model that generates from lines of this form. Throws the errors of load_for(), and ConfigError, naming the
  // folder, for a model without a decoder.
  Model load_generator(LineForm form) const;
  // Writes to standard error how to end the input, if `path` is empty and standard input is a terminal.
  void note_typed_input(const std::string& path) const;
  // Throws ConfigError, naming the folder, if a language is given but the model has no languages.
  void check_languages(const Model& model, const std::string& source, const std::string& target) const;

 private:
  void check_form(const Model& model, LineForm form) const;
};

// Returns true if two paths, with links resolved, are that of one file. False if one of them is empty.
bool are_one_file(const std::string& path, const std::string& other);

// Throws UsageError if the command would write the same file twice, or would overwrite a file that it reads. Exception:
// `generate` may replace its input if --input and --output give the same path. Input files are compared by device and
// inode, output files with each other by path, with links resolved.
void check_files(const CLI::App& command);

// Upper bound; anything larger is assumed to be a typo.
inline constexpr int kMaxBatchSize = 65536;

}  // namespace encdec::cli
