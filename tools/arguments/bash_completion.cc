#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "argument_table.h"

namespace encdec::cli {
namespace {

// {0}: the name of the function, {1}: of the program, {2}: its subcommands as patterns, {3}: cases of what each takes.
// An option's value may follow a "=", which is a word of its own to readline.
constexpr const char* kScript = R"(# Completion of {1} for bash: what `{1} --completion bash` prints.
{0}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} option=${{COMP_WORDS[COMP_CWORD - 1]}}
  local command= i options= words= paths= more=
  if [[ $current == = ]]; then
    current=
  elif [[ $option == = ]]; then
    option=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${{COMP_WORDS[i]}} in
      {2}) command=${{COMP_WORDS[i]}} && break ;;
    esac
  done
  case $command in
{3}  esac
  if [[ -z $words$paths || ( $more && $current == -* ) ]]; then
    words=$options paths=
  fi
  if [[ $paths ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "$paths" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  fi
}}
complete -F {0} {1}
)";

// What is completed after an option: words or paths, with more options if it need not have a value; nobody can guess
// numbers.
std::string completed_after(const CLI::Option& argument) {
  const Value value = value_of(argument);
  const std::string more = may_lack_value(argument) ? " more=1" : "";
  if (value.is_file) return "paths=-f" + more;
  if (value.is_folder) return "paths=-d" + more;
  return value.words.empty() ? "return" : fmt::format("words='{}'{}", fmt::join(value.words, " "), more);
}

std::vector<std::string> subcommand_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* subcommand : subcommands_of(command)) names.push_back(subcommand->get_name());
  return names;
}

std::string command_case(const std::string& pattern, const CLI::App& command) {
  std::vector<std::string> completed = subcommand_names(command);
  std::map<std::string, std::vector<std::string>> cases;
  for (const CLI::Option* argument : arguments_of(command)) {
    if (is_positional(*argument)) continue;
    const std::vector<std::string> names = names_of(*argument);
    completed.insert(completed.end(), names.begin(), names.end());
    if (!takes_value(*argument)) continue;
    std::vector<std::string>& patterns = cases[completed_after(*argument)];
    patterns.insert(patterns.end(), names.begin(), names.end());
  }
  std::string text = fmt::format("    {})\n      options='{}'\n", pattern, fmt::join(completed, " "));
  if (!cases.empty()) text += "      case $option in\n";
  for (const auto& [action, names] : cases) text += fmt::format("        {}) {} ;;\n", fmt::join(names, " | "), action);
  return text + (cases.empty() ? "" : "      esac\n") + "      ;;\n";
}

}  // namespace

std::string bash_completion(const CLI::App& program) {
  std::string function = "_" + program.get_name();
  for (char& c : function) c = c == '-' ? '_' : c;
  std::string cases = command_case("''", program);
  for (const CLI::App* command : subcommands_of(program)) cases += command_case(command->get_name(), *command);
  const std::string commands =
      subcommands_of(program).empty() ? "''" : fmt::format("{}", fmt::join(subcommand_names(program), " | "));
  return fmt::format(kScript, function, program.get_name(), commands, cases);
}

}  // namespace encdec::cli
