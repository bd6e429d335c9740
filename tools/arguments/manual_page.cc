#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "argument_table.h"

namespace encdec::cli {
namespace {

constexpr const char* kPlainGroup = "Options";  // CLI11's, of options that are in no other

// Text that stands for itself in roff. All hyphens are those of options, so that they can be copied and searched for.
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

// Names of values in italics, the words that are typed and the marks around them as they are.
std::string value_type(const CLI::Option& argument) {
  std::string shown, name;
  const auto end_name = [&] {
    const bool is_placeholder = !name.empty() && name.front() >= 'A' && name.front() <= 'Z';
    shown += is_placeholder ? "\\fI" + literal(name) + "\\fR" : literal(name);
    name.clear();
  };
  for (const char c : argument.get_type_name()) {
    if (std::string_view("[]|,").find(c) == std::string_view::npos) {
      name += c;
      continue;
    }
    end_name();
    shown += c;
  }
  end_name();
  return shown;
}

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

std::string tag(const CLI::Option& argument) {
  std::string tag;
  for (const std::string& name : names_of(argument)) {
    if (!tag.empty()) tag += ", ";
    tag += is_positional(argument) ? "\\fI" + literal(name) + "\\fR" : bold(name);
  }
  if (!is_positional(argument) && takes_value(argument)) tag += " " + value_type(argument);
  return tag;
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

// "encdec score --model DIR --target FILE [OPTION]... [SOURCE]", with what must be given in front.
std::string synopsis(std::string_view name, const CLI::App& command) {
  std::string line = bold(name);
  const auto add = [&](const std::string& part) { line += " " + part; };
  for (const CLI::Option* argument : arguments_of(command)) {
    if (!is_positional(*argument) && argument->get_required()) add(tag(*argument));
  }
  add("[\\fIOPTION\\fR]...");
  for (const CLI::Option* argument : arguments_of(command)) {
    if (!is_positional(*argument)) continue;
    const bool is_repeated = argument->get_expected_max() == CLI::detail::expected_max_vector_size;
    const std::string shown = tag(*argument) + (is_repeated ? "..." : "");
    add(argument->get_required() ? shown : "[" + shown + "]");
  }
  return line + "\n";
}

struct Block {
  std::string heading;             // of indented lines, without its colon; empty for a paragraph
  std::vector<std::string> lines;  // without the indentation
};

std::vector<Block> blocks_of(std::string_view footer) {
  constexpr std::string_view kIndent = "  ";
  std::vector<Block> blocks;
  bool begins = true;
  while (!footer.empty()) {
    const std::string_view line = footer.substr(0, footer.find('\n'));
    footer.remove_prefix(std::min(footer.size(), line.size() + 1));
    if (line.empty()) {
      begins = true;
      continue;
    }
    const bool is_heading = begins && line.ends_with(':') && footer.starts_with(kIndent);
    if (begins) blocks.emplace_back();
    begins = false;
    Block& block = blocks.back();
    if (is_heading) {
      block.heading = line.substr(0, line.size() - 1);
    } else {
      block.lines.emplace_back(line.substr(block.heading.empty() ? 0 : kIndent.size()));
    }
  }
  return blocks;
}

std::string listing(const Block& block) {
  std::string text;
  bool in_example = false;
  for (const std::string& line : block.lines) {
    const std::size_t gap = line.find("  ");
    const bool is_example = gap == std::string::npos;
    if (is_example != in_example) text += !is_example ? ".fi\n" : text.empty() ? ".nf\n" : ".PP\n.nf\n";
    in_example = is_example;
    text += is_example ? literal(line) + "\n"
                       : entry(bold(line.substr(0, gap)), literal(line.substr(line.find_first_not_of(' ', gap))));
  }
  return in_example ? text + ".fi\n" : text;
}

// `heading` is the macro of headings at this level: ".SH" or ".SS".
std::string footer(const CLI::App& command, std::string_view heading) {
  std::string text;
  const std::string footer_text = command.get_footer();
  for (const Block& block : blocks_of(footer_text)) {
    if (block.heading.empty()) {
      text += ".PP\n";
      for (const std::string& line : block.lines) text += literal(line) + "\n";
    } else {
      const std::string title = heading == ".SH" ? upper_case(block.heading) : block.heading;
      text += fmt::format("{} {}\n{}", heading, literal(title), listing(block));
    }
  }
  return text;
}

// Positional arguments, options in no group, and a part for each group, in the order of their declaration.
std::string arguments(const CLI::App& command) {
  std::string positional, plain, grouped, group;
  for (const CLI::Option* argument : arguments_of(command)) {
    const std::string in = argument->get_group();
    if (is_positional(*argument)) {
      positional += entry(*argument);
    } else if (in == kPlainGroup) {
      plain += entry(*argument);
    } else {
      if (in != group) grouped += ".SS " + literal(in) + "\n";
      group = in;
      grouped += entry(*argument);
    }
  }
  return positional + plain + grouped;
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
