#include "options.h"

#include <encdec/engine/base/error.h>
#include <fmt/format.h>

#include <limits>

#include "lines.h"

namespace encdec::cli {
void add_model_option(CLI::App& command, std::string& folder) {
  command.add_option("--model", folder, "Checkpoint folder as its publisher ships it")->required()->type_name("DIR");
}

void add_threads_option(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "Threads inside one operation; 0 for one per available CPU")
      ->check(integer_from(0, kMaxThreads))
      ->type_name("N")
      ->capture_default_str();
}

void add_precision_option(CLI::App& command, Precision& precision) {
  CLI::Option* option = command.add_option_function<std::string>(
      "--precision", [&precision](const std::string& name) { precision = *precision_named(name); },
      "Of weights and matmuls; auto is the fastest that keeps the results");
  take_words(option, {"float32", "bfloat16", "int8", "auto"})->default_str(std::string(to_string(precision)));
}

void add_weights_cache_option(CLI::App& command, std::string& folder) {
  command
      .add_option("--weights-cache", folder,
                  "Folder for packed weights: written at the first load, read at the next ones; none if not given")
      ->type_name("DIR");
}

void add_input_option(CLI::App& command, std::string& path, const std::string& content) {
  command.add_option("--input", path, content + "; standard input if not given")->type_name("FILE");
}

void add_output_option(CLI::App& command, std::string& path, const std::string& content) {
  command.add_option("--output", path, content + "; standard output if not given")->type_name("FILE");
}

void add_batch_size_option(CLI::App& command, int& batch_size) {
  command
      .add_option("--batch-size", batch_size,
                  "Lines computed together, 0 for what suits the machine; results do not depend on it")
      ->check(integer_from(0, kMaxBatchSize))
      ->type_name("N")
      ->capture_default_str();
}

void add_language_options(CLI::App& command, std::string& source, std::string& target) {
  command
      .add_option("--source-lang", source, "Language of the sources, as the checkpoint spells it: eng_Latn, en_XX, en")
      ->type_name("LANG");
  command.add_option("--target-lang", target, "Language of the targets, likewise")->type_name("LANG");
}

CLI::Validator integer_from(std::int64_t min, std::int64_t max) {
  return expecting(fmt::format("an integer from {} to {}", min, max), [min, max](std::string_view text) {
    const auto value = parse_number<std::int64_t>(text);
    return value && *value >= min && *value <= max;
  });
}

CLI::Validator number_from(double min, double max) {
  return expecting(fmt::format("a number from {} to {}", min, max), [min, max](std::string_view text) {
    const auto value = parse_number<double>(text);
    return value && *value >= min && *value <= max;
  });
}

CLI::Validator token_id_list() {
  return expecting("token ids separated by spaces", [](std::string_view text) {
    try {
      return !parse_token_ids(text, std::numeric_limits<std::int32_t>::max(), {}).empty();
    } catch (const InputError&) {
      return false;
    }
  });
}

}  // namespace encdec::cli
