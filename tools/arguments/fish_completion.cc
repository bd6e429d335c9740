#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "argument_table.h"

namespace encdec::cli {
namespace {

std::string in_fish_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

// What "complete" is told of the values of an option.
std::string values(const Argument& argument) {
  if (!argument.takes_value()) return "";
  const Value value = value_of(argument);
  if (value.is_file) return argument.value_optional ? " -F" : " -r -F";
  const std::string result = argument.value_optional ? "" : " -x";
  if (value.is_folder) return result + " -a '(__fish_complete_directories)'";
  return value.words.empty() ? result : result + fmt::format(" -a '{}'", fmt::join(value.words, " "));
}

std::string lines(const std::string& program, const std::string& condition, const Command& command) {
  std::string result;
  for (const Argument& argument : command.arguments) {
    if (argument.positional) continue;
    result += fmt::format("complete -c {}{}", program, condition);
    for (const std::string& name : argument.names) {
      result += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    result += values(argument) + " -d " + in_fish_quotes(argument.description) + "\n";
  }
  return result;
}

}  // namespace

std::string fish_completion(const Command& program) {
  std::string script = fmt::format(
      "# Completion of {0} for fish: what `{0} --completion fish` prints.\ncomplete -c {0} -f\n", program.name);
  const std::string first = program.commands.empty() ? "" : " -n __fish_use_subcommand";
  for (const Command& command : program.commands) {
    script += fmt::format("complete -c {}{} -a {} -d {}\n", program.name, first, command.name,
                          in_fish_quotes(command.description));
  }
  script += lines(program.name, first, program);
  for (const Command& command : program.commands) {
    script += lines(program.name, fmt::format(" -n '__fish_seen_subcommand_from {}'", command.name), command);
  }
  return script;
}

}  // namespace encdec::cli
