#pragma once

#include <nanobind/nanobind.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/generation/option_row.h"
#include "keywords.h"

namespace encdec::python {

// Returns the row of an option with two names.
constexpr OptionInfo option_of_two_names(std::string_view name, std::string_view other) {
  return OptionInfo(name, {}, {}, {}, {}, {.other_names = {other}});
}

// Reads an option from keyword arguments, under any of the option's names; `prefix` is removed from a name that begins
// with it. None unsets a number that may be unset, sets a count that is at least 1 to 1, and empties a list of token
// ids. For other options, None counts as not given. Throws TypeError or ConfigError for a wrong type; the message has
// the name in the call or `error_name`. Does not check ranges.
void read_option(Keywords& keywords, const OptionInfo& row, OptionValue value, std::string_view prefix = {},
                 std::string_view error_name = {});

// Like read_option(), but errors always have the row's main name.
inline void read_own(Keywords& keywords, const OptionInfo& row, OptionValue value) {
  read_option(keywords, row, value, {}, row.name);
}

// Reads the options of all rows.
template <class Options>
void read_rows(Keywords& keywords, std::span<const OptionRow<Options>> rows, Options& options) {
  for (const OptionRow<Options>& row : rows) read_option(keywords, row, row.value(options));
}

// Appends all names of an option to `names`.
void add_names(const OptionInfo& row, std::vector<std::string>& names);

}  // namespace encdec::python
