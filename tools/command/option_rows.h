#pragma once

#include <encdec/models/generation/option_row.h>

#include <CLI/App.hpp>
#include <functional>
#include <span>
#include <string>

namespace encdec::cli {

// Returns an option's names on the command line: "--num-beams,--beam-size".
std::string command_names(const OptionInfo& row);

// Adds an option that passes its text to `take`.
CLI::Option* add_text_option(CLI::App& command, const OptionInfo& row, std::function<void(const std::string&)> take);

// Adds an option that sets `value`. Returns the option; for a flag with an opposite, adds two options and returns the
// second. The help shows the default. REQUIRES: the value outlives the command.
CLI::Option* add_option(CLI::App& command, const OptionInfo& row, OptionValue value);

// Adds the options of a group, in the order of the rows. REQUIRES: `options` outlives the command.
template <class Options>
void add_group(CLI::App& command, std::string_view group, std::span<const OptionRow<Options>> rows, Options& options) {
  for (const OptionRow<Options>& row : rows) {
    if (row.group == group) add_option(command, row, row.value(options));
  }
}

}  // namespace encdec::cli
