#pragma once

#include <string>

#include "argument_table.h"

namespace encdec::cli {

// What a shell completes the arguments of a program by: subcommands, options, words that options take, files, folders.
std::string bash_completion(const Command& program);
std::string zsh_completion(const Command& program);
std::string fish_completion(const Command& program);

}  // namespace encdec::cli
