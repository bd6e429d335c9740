#pragma once

#include <CLI/App.hpp>
#include <string>

namespace encdec::cli {

// Adds --man and --completion: they print the manual page of a program, or what a shell completes its arguments by,
// made from all of its options, and end it as --help does.
void add_document_options(CLI::App& program, const std::string& see_also);

}  // namespace encdec::cli
