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

}  // namespace encdec::cli
