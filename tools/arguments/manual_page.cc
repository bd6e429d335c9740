#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <span>
#include <sstream>
#include <string_view>

#include "arguments/arguments.h"

namespace encdec::cli {
namespace {

constexpr const char* kPlainGroup = "Options";  // CLI11's default group
constexpr std::string_view kIndent = "  ";      // indentation of the lines below a heading

// Escapes `text` for roff. Hyphens become minus signs, so that options can be copied and searched for.
std::string literal(std::string_view text) {
  static const std::map<char, const char*> kEscapes = {{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"},
                                                       {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}};
  std::string escaped;
  for (const char c : text) {
    const auto found = kEscapes.find(c);
    escaped += found == kEscapes.end() ? std::string(1, c) : found->second;
  }
  return escaped.starts_with('.') ? "\\&" + escaped : escaped;
}

std::string bold(std::string_view text) {
  return "\\fB" + literal(text) + "\\fR";
}

std::string italic(const std::string& text) {
  return "\\fI" + text + "\\fR";
}

// Returns the type of an option's value. Names of values, such as DIR, become italic. Literal words, brackets and bars
// do not.
std::string value_type(const CLI::Option& option) {
  static const std::regex name("(^|[\\[\\]|,])([A-Z][^\\[\\]|,]*)");
  return std::regex_replace(literal(option.get_type_name()), name, "$1" + italic("$2"));
}

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

// Returns the names of an option with the type of its value, or the name of a positional argument.
std::string tag(const CLI::Option& argument) {
  if (!argument.nonpositional()) return italic(literal(argument.get_name(true)));
  std::string tag;
  for (const std::string& name : names_of(argument)) tag += (tag.empty() ? "" : ", ") + bold(name);
  return takes_value(argument) ? tag + " " + value_type(argument) : tag;
}

std::string entry(const std::string& tag, const std::string& text) {
  return ".TP\n" + tag + "\n" + text + "\n";
}

std::string entry(const CLI::Option& argument) {
  std::string text = literal(argument.get_description());
  if (argument.get_required()) text += " (required)";
  const std::string usual = argument.get_default_str();
  if (!usual.empty()) text += fmt::format(" (default: {})", literal(usual));
  return entry(tag(argument), text);
}

// Returns a synopsis with the required options first: "encdec score --model DIR --target FILE [OPTION]... [SOURCE]".
std::string synopsis(std::string_view name, const CLI::App& command) {
  std::string line = bold(name);
  for (const CLI::Option* option : options_of(command)) {
    if (option->get_required()) line += " " + bold(option->get_name()) + " " + value_type(*option);
  }
  line += " [" + italic("OPTION") + "]...";
  for (const CLI::Option* argument : positional_arguments_of(command)) {
    const bool is_repeated = argument->get_expected_max() == CLI::detail::expected_max_vector_size;
    const std::string shown = tag(*argument) + (is_repeated ? "..." : "");
    line += argument->get_required() ? " " + shown : " [" + shown + "]";
  }
  return line + "\n";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Formats the lines below a heading: list entries and examples.
std::string listing(std::span<const std::string> lines) {
  std::string text;
  bool in_example = false;
  for (std::string line : lines) {
    line.erase(0, kIndent.size());
    const std::size_t gap = line.find("  ");
    const bool is_example = gap == std::string::npos;
    if (is_example != in_example) text += !is_example ? ".fi\n" : text.empty() ? ".nf\n" : ".PP\n.nf\n";
    in_example = is_example;
    text += is_example ? literal(line) + "\n"
                       : entry(bold(line.substr(0, gap)), literal(line.substr(line.find_first_not_of(' ', gap))));
  }
  return in_example ? text + ".fi\n" : text;
}

// Formats a command's footer. `heading` is the macro of its headings, ".SH" or ".SS". An empty line ends a paragraph or
// list.
std::string footer(const CLI::App& command, std::string_view heading) {
  std::string text;
  const std::vector<std::string> lines = lines_of(command.get_footer());
  for (auto begin = lines.begin(); begin < lines.end();) {
    const auto end = std::find(begin, lines.end(), "");
    if (end - begin > 1 && begin->ends_with(':') && begin[1].starts_with(kIndent)) {
      const std::string title = begin->substr(0, begin->size() - 1);
      text += fmt::format("{} {}\n{}", heading, literal(heading == ".SH" ? upper_case(title) : title),
                          listing({begin + 1, end}));
    } else if (begin != end) {
      text += ".PP\n";
      for (; begin != end; ++begin) text += literal(*begin) + "\n";
    }
    begin = end + (end != lines.end() ? 1 : 0);
  }
  return text;
}

// Formats the positional arguments and the options without a group, then each group of options with a heading. Keeps
// the order of declaration.
std::string arguments(const CLI::App& command) {
  std::string plain, grouped, group;
  for (const CLI::Option* argument : positional_arguments_of(command)) plain += entry(*argument);
  for (const CLI::Option* option : options_of(command)) {
    if (option->get_group() == kPlainGroup) {
      plain += entry(*option);
      continue;
    }
    if (option->get_group() != group) grouped += ".SS " + literal(option->get_group()) + "\n";
    group = option->get_group();
    grouped += entry(*option);
  }
  return plain + grouped;
}

std::string section(const CLI::App& program, const CLI::App& command) {
  const std::string name = program.get_name() + " " + command.get_name();
  return fmt::format(".SH {}\n{}.PP\n{}.\n{}{}", literal(upper_case(name)), synopsis(name, command),
                     literal(command.get_description()), arguments(command), footer(command, ".SS"));
}

}  // namespace

std::string manual_page(const CLI::App& program, const std::string& see_also) {
  const bool has_commands = !subcommands_of(program).empty();
  const std::string description = program.get_description();
  std::string_view summary = description;
  if (summary.ends_with('.')) summary.remove_suffix(1);
  std::string page =
      fmt::format(".TH {} 1 \"\" \"{}\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", literal(upper_case(program.get_name())),
                  literal(program.version()), literal(program.get_name()), literal(summary));
  page += has_commands ? bold(program.get_name()) + " \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n.br\n" : "";
  page += synopsis(program.get_name(), program);
  page += ".SH DESCRIPTION\n" + literal(description) + "\n";
  if (has_commands) page += ".SH COMMANDS\n";
  for (const CLI::App* command : subcommands_of(program)) {
    page += entry(bold(command->get_name()), literal(command->get_description()) + ".");
  }
  page += ".SH OPTIONS\n" + arguments(program);
  for (const CLI::App* command : subcommands_of(program)) page += section(program, *command);
  return page + footer(program, ".SH") + ".SH SEE ALSO\n" + literal(see_also) + "\n";
}

}  // namespace encdec::cli
