#pragma once

#include <encdec/engine/shape.h>
#include <encdec/models/session.h>

#include <string>
#include <string_view>

namespace encdec::cli {

// A line of token ids separated by spaces or tabs; none for an empty line. `position` is the line's, for messages.
// Throws InputError for anything but integers from 0 to vocabulary - 1.
TokenIds parse_token_ids(std::string_view line, Dim vocabulary, const std::string& position);

// "17 5 0"
std::string format_token_ids(const TokenIds& ids);

}  // namespace encdec::cli
