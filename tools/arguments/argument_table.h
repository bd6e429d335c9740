#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace encdec::cli {

// An option, or a positional argument.
struct Argument {
  std::vector<std::string> names;  // "-h", "--help"; the one of a positional argument: "SOURCE"
  std::string type;                // as the help shows it: "N", "FILE", "red|blue"; empty for a flag
  std::string description;
  std::string default_value;  // empty for none
  std::string group;
  bool positional = false;
  bool required = false;
  bool repeated = false;        // takes any number of values
  bool value_optional = false;  // --profile [FILE]

  bool takes_value() const { return !type.empty(); }
};

// What a value may be, as its type says: FILE and DIR are paths, words in small letters stand for themselves.
struct Value {
  bool is_file = false;
  bool is_folder = false;
  std::vector<std::string> words;
};
Value value_of(const Argument& argument);

// A program or a subcommand.
struct Command {
  std::string name;
  std::string description;
  std::string footer;
  std::vector<Argument> arguments;
  std::vector<Command> commands;
};
Command describe(const CLI::App& app);

// A page of section 1 for man(7), of a version such as "encdec 0.1.0". Of footers, a line that ends with a colon before
// indented lines is a heading; among these, "  TAG  text" is an entry of a list, and anything else is shown as it is
// typed.
std::string manual_page(const Command& program, const std::string& version, const std::string& see_also);

// What a shell completes the arguments of a program by: subcommands, options, words that options take, files, folders.
std::string bash_completion(const Command& program);
std::string zsh_completion(const Command& program);
std::string fish_completion(const Command& program);

}  // namespace encdec::cli
