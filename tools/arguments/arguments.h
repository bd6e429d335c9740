#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

namespace encdec::cli {

// For CLI::Option::check: "'red', expected blue or green" of a text that does not fit.
CLI::Validator expecting(std::string expected, std::function<bool(const std::string&)> fits);

// The option takes one of these words, or none where its value may be left out; of others it says
// "'red', expected blue or green". They are its type in the help, blue|green, and shells complete them from there.
CLI::Option* take_words(CLI::Option* option, const std::vector<std::string>& words);

// Says what is wrong with a command line that `program` has refused, and which help to read. Names an unknown option or
// command before anything else: "unknown option '--modle', did you mean '--model'? (see encdec generate --help)".
std::string usage_error(const CLI::App& program, const CLI::ParseError& error);

// Adds --man and --completion: they print the manual page of a program, or what a shell completes its arguments by,
// made from all of its options, and end it as --help does.
void add_document_options(CLI::App& program, const std::string& see_also);

}  // namespace encdec::cli
