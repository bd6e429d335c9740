#pragma once

#include <encdec/models/generation/option_row.h>

#include <span>

#include "server/parameters.h"

namespace encdec::serve {

// Reads an option, under any of its names, from a request's parameters. Empty parameters count as missing. Skips
// paths: clients may not name files of the server. Throws HttpError, 400, if the value is invalid.
void read_option(const Parameters& parameters, const OptionInfo& row, OptionValue value);

template <class Options>
void read_rows(const Parameters& parameters, std::span<const OptionRow<Options>> rows, Options& options) {
  for (const OptionRow<Options>& row : rows) read_option(parameters, row, row.value(options));
}

}  // namespace encdec::serve
