#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

namespace encdec::cli {

// Returns a check for CLI::Option::check. Its message for a text that does not fit: "'red', expected blue or green".
CLI::Validator expecting(std::string expected, std::function<bool(const std::string&)> fits);

// Makes an option accept only these words, and no value if the value is optional. The message for another word is
// "'red', expected blue or green". The words become the option's type in the help, blue|green, from which shell
// completion reads them.
CLI::Option* take_words(CLI::Option* option, const std::vector<std::string>& words);

// Returns the message for a command line that `program` has rejected, and names the help to read. Reports an unknown
// option or command before any other error:
// "unknown option '--modle', did you mean '--model'? (see encdec generate --help)".
std::string usage_error(const CLI::App& program, const CLI::ParseError& error);

// Returns the message for a long option that is typed with one dash, such as -model, which would be read as -m odel;
// empty if there is none. For use before the command line is parsed.
std::string single_dash_error(const CLI::App& program, int argc, const char* const* argv);

// Adds --man and --completion. They print the manual page or a shell's completion script, generated from all options of
// the program, and end the program as --help does. Also wraps the lines of --help.
// REQUIRES: the program has no subcommands yet.
void add_document_options(CLI::App& program, const std::string& see_also);

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
