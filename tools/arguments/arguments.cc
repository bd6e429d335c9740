#include "arguments/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace encdec::cli {
namespace {

// Prints `text` and ends the program, by the means that CLI11 has for --version. CLI11 adds the last line end.
[[noreturn]] void print_and_end(std::string text) {
  text.pop_back();
  throw CLI::CallForVersion(std::move(text), 0);
}

constexpr std::size_t kHelpColumns = 120;

// Breaks the descriptions of options into lines that fit beside their names.
class WrappingFormatter final : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override {
    const std::size_t width = kHelpColumns - get_column_width();
    std::string text = option->get_description();
    std::size_t line = 0;
    while (text.size() - line > width) {
      const std::size_t space = text.rfind(' ', line + width);
      if (space == text.npos || space <= line) break;
      text[space] = '\n';
      line = space + 1;
    }
    return text;
  }
};

std::vector<const CLI::Option*> shown(const CLI::App& command, bool is_positional) {
  return command.get_options([is_positional](const CLI::Option* argument) {
    return !argument->get_group().empty() && argument->nonpositional() != is_positional;
  });
}

}  // namespace

CLI::Validator expecting(std::string expected, std::function<bool(const std::string&)> fits) {
  const auto check = [expected = std::move(expected), fits = std::move(fits)](const std::string& text) {
    return fits(text) ? std::string() : fmt::format("'{}', expected {}", text, expected);
  };
  return CLI::Validator(check, "", "");
}

CLI::Option* take_words(CLI::Option* option, const std::vector<std::string>& words) {
  const bool may_be_empty = option->get_expected_min() == 0;
  const auto fits = [words, may_be_empty](const std::string& text) {
    return (may_be_empty && text.empty()) || std::ranges::find(words, text) != words.end();
  };
  const std::string expected = fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
  const std::string type = fmt::format("{}", fmt::join(words, "|"));
  return option->check(expecting(expected, fits))->type_name(may_be_empty ? "[" + type + "]" : type);
}

void add_document_options(CLI::App& program, const std::string& see_also) {
  program.formatter(std::make_shared<WrappingFormatter>());
  program.add_flag_callback(
      "--man", [&program, see_also] { print_and_end(manual_page(program, see_also)); },
      "Print the manual page and exit: " + program.get_name() + " --man | man -l -");
  CLI::Option* completes = program.add_option_function<std::string>(
      "--completion", [&program](const std::string& shell) { print_and_end(completion(program, shell)); },
      "Print the completion script for this shell and exit");
  take_words(completes, {"bash", "zsh", "fish"});
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  return shown(command, false);
}

std::vector<const CLI::Option*> positional_arguments_of(const CLI::App& command) {
  return shown(command, true);
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

}  // namespace encdec::cli
