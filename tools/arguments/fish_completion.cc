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
std::string values(const CLI::Option& argument) {
  if (!takes_value(argument)) return "";
  const Value value = value_of(argument);
  if (value.is_file) return may_lack_value(argument) ? " -F" : " -r -F";
  const std::string result = may_lack_value(argument) ? "" : " -x";
  if (value.is_folder) return result + " -a '(__fish_complete_directories)'";
  return value.words.empty() ? result : result + fmt::format(" -a '{}'", fmt::join(value.words, " "));
}

std::string lines(const std::string& program, const std::string& condition, const CLI::App& command) {
  std::string result;
  for (const CLI::Option* argument : arguments_of(command)) {
    if (is_positional(*argument)) continue;
    result += fmt::format("complete -c {}{}", program, condition);
    for (const std::string& name : names_of(*argument)) {
      result += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    result += values(*argument) + " -d " + in_fish_quotes(argument->get_description()) + "\n";
  }
  return result;
}

}  // namespace

std::string fish_completion(const CLI::App& program) {
  std::string script = fmt::format(
      "# Completion of {0} for fish: what `{0} --completion fish` prints.\ncomplete -c {0} -f\n", program.get_name());
  const std::string first = subcommands_of(program).empty() ? "" : " -n __fish_use_subcommand";
  for (const CLI::App* command : subcommands_of(program)) {
    script += fmt::format("complete -c {}{} -a {} -d {}\n", program.get_name(), first, command->get_name(),
                          in_fish_quotes(command->get_description()));
  }
  script += lines(program.get_name(), first, program);
  for (const CLI::App* command : subcommands_of(program)) {
    script +=
        lines(program.get_name(), fmt::format(" -n '__fish_seen_subcommand_from {}'", command->get_name()), *command);
  }
  return script;
}

}  // namespace encdec::cli
