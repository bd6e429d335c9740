#pragma once

#include <encdec/models/session/session.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "common/parse_number.h"

namespace encdec::cli {

// How lines stand for tokens: as texts, or as ids with --token-ids.
enum class LineForm : std::uint8_t { text, token_ids };

// Functions that read lines take their `position`, and throw InputError with it.

// A line as a model takes it: a text in UTF-8, or ids of a vocabulary of this size.
using LineTokens = std::variant<std::string, TokenIds>;
LineTokens parse_line(std::string line, LineForm form, Dim vocabulary, const std::string& position);

// Tells the byte where a line stops being UTF-8.
void check_utf8(std::string_view line, const std::string& position);
// Token ids separated by spaces or tabs, from 0 to vocabulary - 1; none for an empty line.
TokenIds parse_token_ids(std::string_view line, Dim vocabulary, const std::string& position);

// "17 5 0"
std::string format_token_ids(const TokenIds& ids);
// The text as one line of output, which belongs to one line of input: line ends in it become spaces.
std::string as_line(std::string text);
// Messages and tables may quote what hostile files contain: control characters and marks that turn text become '?',
// bytes that are not UTF-8 become U+FFFD.
std::string without_controls(std::string_view text);

}  // namespace encdec::cli
