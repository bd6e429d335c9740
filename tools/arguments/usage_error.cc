#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

#include "arguments/arguments.h"

namespace encdec::cli {
namespace {

// Returns the number of edits that turn one word into the other (optimal string alignment). An edit inserts, removes or
// replaces a letter, or swaps two letters beside each other. Upper and lower case are equal.
std::size_t edits(const std::string& from, const std::string& to) {
  const auto equal = [&](std::size_t i, std::size_t j) {
    return std::tolower(static_cast<unsigned char>(from[i])) == std::tolower(static_cast<unsigned char>(to[j]));
  };
  // Row i of the table has the edits between the first i letters of `from` and each prefix of `to`. `above` and
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

// Returns ", did you mean '--model'?", or nothing if no known word is similar.
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

std::string usage_error(const CLI::App& program, const CLI::ParseError& error) {
  const std::vector<CLI::App*> parsed = program.get_subcommands();
  const CLI::App& command = parsed.empty() ? program : *parsed.front();
  const std::string help = program.get_name() + (parsed.empty() ? "" : " " + command.get_name()) + " --help";
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
    if (argument.size() < 3 || argument[0] != '-' || argument[1] == '-') continue;
    const std::string option = argument.substr(0, argument.find('='));
    if (command->get_option_no_throw("-" + option) == nullptr) continue;
    return fmt::format("unknown option '{0}', did you mean '-{0}'?", option);
  }
  return "";
}

}  // namespace encdec::cli
