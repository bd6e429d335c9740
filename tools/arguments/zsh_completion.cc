#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "argument_table.h"

namespace encdec::cli {
namespace {

std::string in_zsh_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// For a part of a specification, between brackets or colons.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("[]:\\").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string action(const Value& value) {
  if (value.is_file) return "_files";
  if (value.is_folder) return "_files -/";
  return value.words.empty() ? " " : fmt::format("({})", fmt::join(value.words, " "));
}

// '--threads=[Threads inside one operation]:N: '
std::string specification(const CLI::Option& argument, const std::string& name) {
  const std::string option =
      fmt::format("{}[{}]", takes_value(argument) ? name + "=" : name, escaped(argument.get_description()));
  if (!takes_value(argument)) return in_zsh_quotes(option);
  return in_zsh_quotes(fmt::format("{}{}{}:{}", option, may_lack_value(argument) ? "::" : ":",
                                   escaped(argument.get_type_name()), action(value_of(argument))));
}

std::string specifications(const CLI::App& command, const std::string& indent) {
  std::string result;
  for (const CLI::Option* argument : arguments_of(command)) {
    if (is_positional(*argument)) continue;
    for (const std::string& name : names_of(*argument)) result += " \\\n" + indent + specification(*argument, name);
  }
  return result;
}

std::string subcommands(const CLI::App& program) {
  std::string names, cases;
  for (const CLI::App* command : subcommands_of(program)) {
    names +=
        fmt::format("        {}\n", in_zsh_quotes(command->get_name() + ":" + escaped(command->get_description())));
    cases +=
        fmt::format("        {}) _arguments{} ;;\n", command->get_name(), specifications(*command, "            "));
  }
  return fmt::format(R"(  case $state in
    command)
      local -a commands=(
{}      )
      _describe command commands
      ;;
    argument)
      case $words[1] in
{}      esac
      ;;
  esac
)",
                     names, cases);
}

}  // namespace

std::string zsh_completion(const CLI::App& program) {
  std::string script = fmt::format(
      "#compdef {0}\n# Completion of {0} for zsh: what `{0} --completion zsh` prints.\n"
      "local state\nlocal -A opt_args\n_arguments -C{1}",
      program.get_name(), specifications(program, "  "));
  if (subcommands_of(program).empty()) return script + "\n";
  return script + " \\\n  '1:command:->command' '*::argument:->argument'\n" + subcommands(program);
}

}  // namespace encdec::cli
