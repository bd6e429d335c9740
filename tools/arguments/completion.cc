#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string_view>

#include "arguments/arguments.h"

namespace encdec::cli {
namespace {

// The values that an option accepts, from its type name: FILE and DIR mean paths; lower-case words are the values.
struct Value {
  bool is_file = false;
  bool is_folder = false;
  std::string words;  // values separated by spaces; may be empty

  explicit Value(const CLI::Option& option) {
    std::string type = option.get_type_name();
    std::ranges::replace_if(
        type, [](char c) { return c == '[' || c == '|' || c == ']'; }, ' ');
    std::istringstream parts(type);
    for (std::string part; parts >> part;) {
      is_file = is_file || part == "FILE";
      is_folder = is_folder || part == "DIR";
      if (part.front() >= 'a' && part.front() <= 'z') words += (words.empty() ? "" : " ") + part;
    }
  }
};

// Inserts a backslash before each character that occurs in `before`.
std::string with_backslashes(std::string_view text, std::string_view before) {
  std::string result;
  for (const char c : text) {
    if (before.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

// The completion script for bash. Placeholders:
//   {0}  name of the function
//   {1}  name of the program
//   {2}  the program's subcommands, as patterns
//   {3}  one case for each subcommand, with the subcommand's options
// readline splits --option=value into three words, one of which is "=".
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

// Returns the bash code that completes an option's value with words or paths, and with options if the value is
// optional. Other values, such as numbers, are not completed.
std::string completed_after(const CLI::Option& option) {
  const Value value(option);
  const std::string more = may_lack_value(option) ? " more=1" : "";
  if (value.is_file) return "paths=-f" + more;
  if (value.is_folder) return "paths=-d" + more;
  return value.words.empty() ? "return" : fmt::format("words='{}'{}", value.words, more);
}

std::vector<std::string> subcommand_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* subcommand : subcommands_of(command)) names.push_back(subcommand->get_name());
  return names;
}

// Returns the case {3} of a command. Options whose values are completed in the same way share a line.
std::string command_case(const std::string& pattern, const CLI::App& command) {
  std::vector<std::string> completed = subcommand_names(command);
  std::map<std::string, std::vector<std::string>> cases;
  for (const CLI::Option* option : options_of(command)) {
    const std::vector<std::string> names = names_of(*option);
    completed.insert(completed.end(), names.begin(), names.end());
    if (!takes_value(*option)) continue;
    std::vector<std::string>& patterns = cases[completed_after(*option)];
    patterns.insert(patterns.end(), names.begin(), names.end());
  }
  std::string text = fmt::format("    {})\n      options='{}'\n", pattern, fmt::join(completed, " "));
  if (!cases.empty()) text += "      case $option in\n";
  for (const auto& [action, names] : cases) text += fmt::format("        {}) {} ;;\n", fmt::join(names, " | "), action);
  return text + (cases.empty() ? "" : "      esac\n") + "      ;;\n";
}

std::string bash_completion(const CLI::App& program) {
  std::string function = "_" + program.get_name();
  for (char& c : function) c = c == '-' ? '_' : c;
  std::string cases = command_case("''", program);
  for (const CLI::App* command : subcommands_of(program)) cases += command_case(command->get_name(), *command);
  const std::string commands =
      subcommands_of(program).empty() ? "''" : fmt::format("{}", fmt::join(subcommand_names(program), " | "));
  return fmt::format(kScript, function, program.get_name(), commands, cases);
}

std::string in_zsh_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// Escapes `text` for a zsh specification, where it is between brackets or colons.
std::string escaped(std::string_view text) {
  return with_backslashes(text, "[]:\\");
}

std::string action(const Value& value) {  // returns the action of a zsh specification
  if (value.is_file) return "_files";
  if (value.is_folder) return "_files -/";
  return value.words.empty() ? " " : "(" + value.words + ")";
}

// Returns a zsh specification of an option: '--threads=[Threads of one operation]:N: '
std::string specification(const CLI::Option& option, const std::string& name) {
  std::string text = fmt::format("{}[{}]", takes_value(option) ? name + "=" : name, escaped(option.get_description()));
  if (takes_value(option)) {
    text += fmt::format("{}{}:{}", may_lack_value(option) ? "::" : ":", escaped(option.get_type_name()),
                        action(Value(option)));
  }
  return in_zsh_quotes(text);
}

std::string specifications(const CLI::App& command, const std::string& indent) {
  std::string result;
  for (const CLI::Option* option : options_of(command)) {
    for (const std::string& name : names_of(*option)) result += " \\\n" + indent + specification(*option, name);
  }
  return result;
}

// Returns the part of a zsh script that completes subcommands and their arguments.
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

std::string zsh_completion(const CLI::App& program) {
  std::string script = fmt::format(
      "#compdef {0}\n# Completion of {0} for zsh: what `{0} --completion zsh` prints.\n"
      "local state\nlocal -A opt_args\n_arguments -C{1}",
      program.get_name(), specifications(program, "  "));
  if (subcommands_of(program).empty()) return script + "\n";
  return script + " \\\n  '1:command:->command' '*::argument:->argument'\n" + subcommands(program);
}

std::string in_fish_quotes(std::string_view text) {
  return "'" + with_backslashes(text, "'\\") + "'";
}

// Returns the flags of fish's `complete` command for an option's values.
std::string values(const CLI::Option& option) {
  if (!takes_value(option)) return "";
  const Value value(option);
  if (value.is_file) return may_lack_value(option) ? " -F" : " -r -F";
  const std::string result = may_lack_value(option) ? "" : " -x";
  if (value.is_folder) return result + " -a '(__fish_complete_directories)'";
  return value.words.empty() ? result : result + fmt::format(" -a '{}'", value.words);
}

// Returns a `complete` command of fish for each option of a command.
std::string lines(const std::string& program, const std::string& condition, const CLI::App& command) {
  std::string result;
  for (const CLI::Option* option : options_of(command)) {
    result += fmt::format("complete -c {}{}", program, condition);
    for (const std::string& name : names_of(*option)) {
      result += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    result += values(*option) + " -d " + in_fish_quotes(option->get_description()) + "\n";
  }
  return result;
}

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

}  // namespace

std::string completion(const CLI::App& program, const std::string& shell) {
  if (shell == "bash") return bash_completion(program);
  return shell == "zsh" ? zsh_completion(program) : fish_completion(program);
}

}  // namespace encdec::cli
