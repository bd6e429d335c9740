#include "options.h"

#include <fmt/format.h>

#include <charconv>

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

void add_input_option(CLI::App& command, std::string& path, const std::string& content) {
  command.add_option("--input", path, content + "; standard input if not given")->type_name("FILE");
}

void add_output_option(CLI::App& command, std::string& path, const std::string& content) {
  command.add_option("--output", path, content + "; standard output if not given")->type_name("FILE");
}

CLI::Validator integer_from(std::int64_t min, std::int64_t max) {
  const auto check = [min, max](const std::string& text) -> std::string {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= min && value <= max) return {};
    return fmt::format("'{}', expected an integer from {} to {}", text, min, max);
  };
  return CLI::Validator(check, "", "");
}

}  // namespace encdec::cli
