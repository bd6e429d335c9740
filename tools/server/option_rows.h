#pragma once

#include <encdec/models/generation/option_row.h>

#include <span>

#include "server/parameters.h"

namespace encdec::serve {

// Reads the option of a row from the parameters of a request, under all its names. An empty value counts as not given.
// Does not read paths, which are not a client's. Throws HttpError, 400, as Parameters does.
void read_option(const Parameters& parameters, const OptionInfo& row, OptionValue value);

// Reads the options of all rows.
template <class Options>
void read_rows(const Parameters& parameters, std::span<const OptionRow<Options>> rows, Options& options) {
  for (const OptionRow<Options>& row : rows) read_option(parameters, row, row.value(options));
}

}  // namespace encdec::serve
