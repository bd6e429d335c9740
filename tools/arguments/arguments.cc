#include "arguments/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <numeric>
#include <utility>

namespace encdec::cli {
namespace {

// Prints `text` and exits, with CLI11's mechanism for --version. Removes the last newline, because CLI11 adds one.
[[noreturn]] void print_and_end(std::string text) {
  text.pop_back();
  throw CLI::CallForVersion(std::move(text), 0);
}

constexpr std::size_t kHelpColumns = 120;

// Wraps the descriptions of options to the width of their column.
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

// Returns the positional arguments, or the options, in the help. The help hides arguments with an empty group name.
std::vector<const CLI::Option*> shown(const CLI::App& command, bool is_positional) {
  return command.get_options([is_positional](const CLI::Option* argument) {
    return !argument->get_group().empty() && argument->nonpositional() != is_positional;
  });
}

// Returns the edit distance of two words (optimal string alignment). An edit inserts, removes or replaces a letter, or
// swaps two adjacent letters. Ignores case.
std::size_t edits(const std::string& from, const std::string& to) {
  const auto equal = [&](std::size_t i, std::size_t j) {
    return std::tolower(static_cast<unsigned char>(from[i])) == std::tolower(static_cast<unsigned char>(to[j]));
  };
  // Row i of the table contains the distances of the first i letters of `from` to each prefix of `to`. `above` and
  // `before` are rows i-1 and i-2.
  std::vector<std::size_t> row(to.size() + 1), above, before;
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    before = std::exchange(above, row);
    row.front() = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      row[j + 1] = std::min({row[j] + 1, above[j + 1] + 1, above[j] + (equal(i, j) ? 0 : 1)});
      const bool is_swapped = i > 0 && j > 0 && equal(i, j - 1) && equal(i - 1, j);
      if (is_swapped) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

// Returns ", did you mean '--model'?" with the most similar word, or "" if no known word is similar.
std::string hint(const std::string& word, const std::vector<std::string>& known) {
  std::size_t fewest = word.size() / 3 + 1;
  std::string nearest;
  for (const std::string& candidate : known) {
    const std::size_t count = edits(word, candidate);
    if (count < fewest) {
      fewest = count;
      nearest = candidate;
    }
  }
  return nearest.empty() ? "" : fmt::format(", did you mean '{}'?", nearest);
}

// Returns the message for an option or command that `command` does not have.
std::string unknown_argument(const CLI::App& command, const std::string& argument, const std::string& help) {
  if (argument.starts_with('-')) {
    const std::string option = argument.substr(0, argument.find('='));
    std::vector<std::string> options;
    for (const CLI::Option* known : options_of(command)) {
      for (const std::string& name : names_of(*known)) options.push_back(name);
    }
    return fmt::format("unknown option '{}'{} (see {})", option, hint(option, options), help);
  }
  std::vector<std::string> commands;
  for (const CLI::App* known : subcommands_of(command)) commands.push_back(known->get_name());
  if (commands.empty()) return fmt::format("unexpected argument '{}' (see {})", argument, help);
  return fmt::format("unknown command '{}'{} (commands: {}; see {})", argument, hint(argument, commands),
                     fmt::join(commands, ", "), help);
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

std::string usage_error(const CLI::App& program, const CLI::ParseError& error) {
  const std::vector<CLI::App*> parsed = program.get_subcommands();
  const CLI::App& command = parsed.empty() ? program : *parsed.front();
  const std::string help = program.get_name() + (parsed.empty() ? "" : " " + command.get_name()) + " --help";
  // CLI11 collects unknown arguments in remaining().
  for (const CLI::App* each : {&program, &command}) {
    for (const std::string& argument : each->remaining()) {
      if (argument != "--") return unknown_argument(*each, argument, help);
    }
  }
  return fmt::format("{} (see {})", error.what(), help);
}

std::string single_dash_error(const CLI::App& program, int argc, const char* const* argv) {
  const CLI::App* command = &program;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--") break;
    if (i == 1) {
      for (const CLI::App* known : subcommands_of(program)) {
        if (known->get_name() == argument) command = known;
      }
    }
    // An argument with a single dash is an error if a second dash makes it a known option.
    if (argument.size() < 3 || argument[0] != '-' || argument[1] == '-') continue;
    const std::string option = argument.substr(0, argument.find('='));
    if (command->get_option_no_throw("-" + option) == nullptr) continue;
    return fmt::format("unknown option '{0}', did you mean '-{0}'?", option);
  }
  return "";
}

}  // namespace encdec::cli
