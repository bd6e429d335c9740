#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace encdec::cli {

// What a program's manual page and shells' completion tell of it and its subcommands, in the order of declaration.
std::vector<const CLI::App*> subcommands_of(const CLI::App& command);
// What the help shows.
std::vector<const CLI::Option*> options_of(const CLI::App& command);
std::vector<const CLI::Option*> positional_arguments_of(const CLI::App& command);

// "-h", "--help"
std::vector<std::string> names_of(const CLI::Option& option);
inline bool takes_value(const CLI::Option& option) {
  return option.get_type_size() != 0 && !option.get_type_name().empty();
}
// --profile [FILE]
inline bool may_lack_value(const CLI::Option& option) {
  return option.get_expected_min() == 0;
}

// A page of section 1 for man(7). Of footers, a line that ends with a colon before indented lines is a heading; among
// these, "  TAG  text" is an entry of a list, and anything else is shown as it is typed.
std::string manual_page(const CLI::App& program, const std::string& see_also);

// What this shell, bash, zsh or fish, completes the arguments of a program by: subcommands, options, words that options
// take, files, folders.
std::string completion(const CLI::App& program, const std::string& shell);

}  // namespace encdec::cli
