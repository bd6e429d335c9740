#pragma once

#include <nanobind/nanobind.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/generation/option_row.h"
#include "keywords.h"

namespace encdec::python {

// Returns the row of an option with a further name.
constexpr OptionInfo option_of_two_names(std::string_view name, std::string_view other) {
  return OptionInfo(name, {}, {}, {}, {}, {.other_names = {other}});
}

// Reads the option of a row from keyword arguments, under all its names, without `prefix` if they begin with it. None
// means:
// - for a number that may be unset: unset; for a count that is at least 1: 1; for a list of token ids: no tokens;
// - else: not given.
// Throws TypeError or ConfigError for a value of another type, named as in the call or `error_name`. Does not check
// ranges.
void read_option(Keywords& keywords, const OptionInfo& row, OptionValue value, std::string_view prefix = {},
                 std::string_view error_name = {});

// The same for an option whose errors have its own name, whichever of its names is given.
inline void read_own(Keywords& keywords, const OptionInfo& row, OptionValue value) {
  read_option(keywords, row, value, {}, row.name);
}

// Reads the options of all rows.
template <class Options>
void read_rows(Keywords& keywords, std::span<const OptionRow<Options>> rows, Options& options) {
  for (const OptionRow<Options>& row : rows) read_option(keywords, row, row.value(options));
}

// Appends all names of a row.
void add_names(const OptionInfo& row, std::vector<std::string>& names);

}  // namespace encdec::python
