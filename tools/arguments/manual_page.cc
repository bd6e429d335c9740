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
std::string value_type(const Argument& argument) {
  std::string shown, name;
  const auto end_name = [&] {
    const bool is_placeholder = !name.empty() && name.front() >= 'A' && name.front() <= 'Z';
    shown += is_placeholder ? "\\fI" + literal(name) + "\\fR" : literal(name);
    name.clear();
  };
  for (const char c : argument.type) {
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

std::string tag(const Argument& argument) {
  std::string tag;
  for (const std::string& name : argument.names) {
    if (!tag.empty()) tag += ", ";
    tag += argument.positional ? "\\fI" + literal(name) + "\\fR" : bold(name);
  }
  if (!argument.positional && argument.takes_value()) tag += " " + value_type(argument);
  return tag;
}

std::string entry(const std::string& tag, const std::string& text) {
  return ".TP\n" + tag + "\n" + text + "\n";
}

std::string entry(const Argument& argument) {
  std::string text = literal(argument.description);
  if (argument.required) text += " (required)";
  if (!argument.default_value.empty()) text += fmt::format(" (default: {})", literal(argument.default_value));
  return entry(tag(argument), text);
}

// "encdec score --model DIR --target FILE [OPTION]... [SOURCE]", with what must be given in front.
std::string synopsis(std::string_view name, const Command& command) {
  std::string line = bold(name);
  const auto add = [&](const std::string& part) { line += " " + part; };
  for (const Argument& argument : command.arguments) {
    if (!argument.positional && argument.required) add(tag(argument));
  }
  add("[\\fIOPTION\\fR]...");
  for (const Argument& argument : command.arguments) {
    if (!argument.positional) continue;
    const std::string shown = tag(argument) + (argument.repeated ? "..." : "");
    add(argument.required ? shown : "[" + shown + "]");
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
std::string footer(const Command& command, std::string_view heading) {
  std::string text;
  for (const Block& block : blocks_of(command.footer)) {
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
std::string arguments(const Command& command) {
  std::string positional, plain, grouped, group;
  for (const Argument& argument : command.arguments) {
    if (argument.positional) {
      positional += entry(argument);
    } else if (argument.group == kPlainGroup) {
      plain += entry(argument);
    } else {
      if (argument.group != group) grouped += ".SS " + literal(argument.group) + "\n";
      group = argument.group;
      grouped += entry(argument);
    }
  }
  return positional + plain + grouped;
}

std::string section(const Command& program, const Command& command) {
  const std::string name = program.name + " " + command.name;
  return fmt::format(".SH {}\n{}.PP\n{}.\n{}{}", literal(upper_case(name)), synopsis(name, command),
                     literal(command.description), arguments(command), footer(command, ".SS"));
}

}  // namespace

std::string manual_page(const Command& program, const std::string& version, const std::string& see_also) {
  const bool has_commands = !program.commands.empty();
  std::string_view summary = program.description;
  if (summary.ends_with('.')) summary.remove_suffix(1);
  std::string page =
      fmt::format(".TH {} 1 \"\" \"{}\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", literal(upper_case(program.name)),
                  literal(version), literal(program.name), literal(summary));
  page += has_commands ? bold(program.name) + " \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n.br\n" : "";
  page += synopsis(program.name, program);
  page += ".SH DESCRIPTION\n" + literal(program.description) + "\n";
  if (has_commands) page += ".SH COMMANDS\n";
  for (const Command& command : program.commands) {
    page += entry(bold(command.name), literal(command.description) + ".");
  }
  page += ".SH OPTIONS\n" + arguments(program);
  for (const Command& command : program.commands) page += section(program, command);
  return page + footer(program, ".SH") + ".SH SEE ALSO\n" + literal(see_also) + "\n";
}

}  // namespace encdec::cli
