#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace encdec::cli {

// What a program's manual page and shells' completion tell of it and its subcommands, in the order of declaration.
std::vector<const CLI::App*> subcommands_of(const CLI::App& command);
// Options and positional arguments that the help shows.
std::vector<const CLI::Option*> arguments_of(const CLI::App& command);

// "-h", "--help"; the one of a positional argument: "SOURCE"
std::vector<std::string> names_of(const CLI::Option& argument);
inline bool is_positional(const CLI::Option& argument) {
  return !argument.nonpositional();
}
inline bool takes_value(const CLI::Option& argument) {
  return argument.get_type_size() != 0 && !argument.get_type_name().empty();
}
// --profile [FILE]
inline bool may_lack_value(const CLI::Option& option) {
  return option.get_expected_min() == 0;
}

// What a value may be, as its type says: FILE and DIR are paths, words in small letters stand for themselves.
struct Value {
  bool is_file = false;
  bool is_folder = false;
  std::vector<std::string> words;
};
Value value_of(const CLI::Option& option);

// A page of section 1 for man(7). Of footers, a line that ends with a colon before indented lines is a heading; among
// these, "  TAG  text" is an entry of a list, and anything else is shown as it is typed.
std::string manual_page(const CLI::App& program, const std::string& see_also);

// What a shell completes the arguments of a program by: subcommands, options, words that options take, files, folders.
std::string bash_completion(const CLI::App& program);
std::string zsh_completion(const CLI::App& program);
std::string fish_completion(const CLI::App& program);

}  // namespace encdec::cli
