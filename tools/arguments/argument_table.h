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

// A program or a subcommand: what manual pages and shells' completion are made from.
struct Command {
  std::string name;
  std::string description;
  std::string footer;
  std::vector<Argument> arguments;
  std::vector<Command> commands;
};
Command describe(const CLI::App& app);

// All option names and subcommands, to be completed.
std::vector<std::string> option_names(const Command& command);
std::vector<std::string> command_names(const Command& command);

}  // namespace encdec::cli
