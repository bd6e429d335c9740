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
std::string specification(const Argument& argument, const std::string& name) {
  const std::string option =
      fmt::format("{}[{}]", argument.takes_value() ? name + "=" : name, escaped(argument.description));
  if (!argument.takes_value()) return in_zsh_quotes(option);
  return in_zsh_quotes(fmt::format("{}{}{}:{}", option, argument.value_optional ? "::" : ":", escaped(argument.type),
                                   action(value_of(argument))));
}

std::string specifications(const Command& command, const std::string& indent) {
  std::string result;
  for (const Argument& argument : command.arguments) {
    if (argument.positional) continue;
    for (const std::string& name : argument.names) result += " \\\n" + indent + specification(argument, name);
  }
  return result;
}

std::string subcommands(const Command& program) {
  std::string names, cases;
  for (const Command& command : program.commands) {
    names += fmt::format("        {}\n", in_zsh_quotes(command.name + ":" + escaped(command.description)));
    cases += fmt::format("        {}) _arguments{} ;;\n", command.name, specifications(command, "            "));
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

std::string zsh_completion(const Command& program) {
  std::string script = fmt::format(
      "#compdef {0}\n# Completion of {0} for zsh: what `{0} --completion zsh` prints.\n"
      "local state\nlocal -A opt_args\n_arguments -C{1}",
      program.name, specifications(program, "  "));
  if (program.commands.empty()) return script + "\n";
  return script + " \\\n  '1:command:->command' '*::argument:->argument'\n" + subcommands(program);
}

}  // namespace encdec::cli
