#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace encdec::cli {

// Tables of a program's arguments, for its manual page and shell completion. All are in the order of declaration.
std::vector<const CLI::App*> subcommands_of(const CLI::App& command);
// Return the options or positional arguments that the help shows.
std::vector<const CLI::Option*> options_of(const CLI::App& command);
std::vector<const CLI::Option*> positional_arguments_of(const CLI::App& command);

// Returns all names of an option: "-h", "--help".
std::vector<std::string> names_of(const CLI::Option& option);
inline bool takes_value(const CLI::Option& option) {
  return option.get_type_size() != 0 && !option.get_type_name().empty();
}
// Returns true if the option's value is optional, as in --profile [FILE].
inline bool may_lack_value(const CLI::Option& option) {
  return option.get_expected_min() == 0;
}

// Returns a manual page of section 1, for man(7). In a footer, a line that ends with a colon and is followed by
// indented lines is a heading. Of these lines, "  TAG  text" is an entry of a list, and any other line is an example.
std::string manual_page(const CLI::App& program, const std::string& see_also);

// Returns the script by which `shell` (bash, zsh or fish) completes the arguments of the program: subcommands, options,
// the words that options take, files and folders.
std::string completion(const CLI::App& program, const std::string& shell);

}  // namespace encdec::cli
