#pragma once

#include <encdec/models/generation/option_row.h>

#include <CLI/App.hpp>
#include <functional>
#include <span>
#include <string>

namespace encdec::cli {

// Returns the names of a row on the command line: "--num-beams,--beam-size".
std::string command_names(const OptionInfo& row);

// Adds an option that takes a text.
CLI::Option* add_text_option(CLI::App& command, const OptionInfo& row, std::function<void(const std::string&)> take);

// Adds the option of a row, which sets `value`, and returns it (for a flag, the last that it has). The help shows its
// default. REQUIRES: the value outlives the command.
CLI::Option* add_option(CLI::App& command, const OptionInfo& row, OptionValue value);

// Adds the options of a group's rows, in their order. REQUIRES: `options` outlives the command.
template <class Options>
void add_group(CLI::App& command, std::string_view group, std::span<const OptionRow<Options>> rows, Options& options) {
  for (const OptionRow<Options>& row : rows) {
    if (row.group == group) add_option(command, row, row.value(options));
  }
}

}  // namespace encdec::cli
