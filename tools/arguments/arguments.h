#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

namespace encdec::cli {

// Returns a check for CLI::Option::check(). With `expected` "blue or green", its error is "'red', expected blue or
// green".
CLI::Validator expecting(std::string expected, std::function<bool(const std::string&)> fits);

// Makes an option accept only these words, or no value if the value is optional. The error for another word is "'red',
// expected blue or green". In the help, the option's type becomes blue|green. Shell completion uses this type.
CLI::Option* take_words(CLI::Option* option, const std::vector<std::string>& words);

// Returns the message for a command line that `program` has rejected. Reports an unknown option or command before any
// other error: "unknown option '--modle', did you mean '--model'? (see encdec generate --help)".
std::string usage_error(const CLI::App& program, const CLI::ParseError& error);

// Returns the message for a long option with only one dash, such as -model, which would be parsed as -m odel. Returns
// "" if there is no such option. Call this function before parsing the command line.
std::string single_dash_error(const CLI::App& program, int argc, const char* const* argv);

// Adds --man and --completion, which print the manual page or a shell's completion script and exit, like --help. Both
// are generated from the program's options. Also wraps the lines of --help.
// REQUIRES: the program has no subcommands yet.
void add_document_options(CLI::App& program, const std::string& see_also);

// Return a command's subcommands, and the options or positional arguments in its help, in the order of declaration.
std::vector<const CLI::App*> subcommands_of(const CLI::App& command);
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

// Returns a manual page of section 1 in the format of man(7). In a footer, a line that ends with a colon and precedes
// indented lines is a heading. An indented line "  TAG  text" is a list entry; other indented lines are examples.
std::string manual_page(const CLI::App& program, const std::string& see_also);

// Returns a completion script for `shell` (bash, zsh or fish). It completes subcommands, options, the words that
// options accept, files and folders.
std::string completion(const CLI::App& program, const std::string& shell);

}  // namespace encdec::cli
