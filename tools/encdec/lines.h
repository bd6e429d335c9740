#pragma once

#include <encdec/models/session/session.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "common/parse_number.h"

namespace encdec::cli {

// Form of the lines that a command reads and writes: text, or token ids (--token-ids).
enum class LineForm : std::uint8_t { text, token_ids };

// The functions with a parameter `position` ("input.txt:3") throw InputError with a message that begins with it.

// A line as input of a model: text in UTF-8, or token ids.
using LineTokens = std::variant<std::string, TokenIds>;
// Returns the line in this form. Token ids must be from 0 to vocabulary - 1.
LineTokens parse_line(std::string line, LineForm form, Dim vocabulary, const std::string& position);

// Throws InputError, naming the first wrong byte, if `line` is not UTF-8.
void check_utf8(std::string_view line, const std::string& position);
// Returns the token ids of a line, separated by spaces or tabs and from 0 to vocabulary - 1. Returns none for an empty
// line.
TokenIds parse_token_ids(std::string_view line, Dim vocabulary, const std::string& position);

// Returns the ids separated by spaces: "17 5 0".
std::string format_token_ids(const TokenIds& ids);
// Returns the text as one line: line ends become spaces, so that each input line has one output line.
std::string as_line(std::string text);
// Returns the text made safe for messages and tables, which may quote hostile files. Control characters and characters
// that change the text direction become '?'. Bytes that are not UTF-8 become U+FFFD.
std::string without_controls(std::string_view text);

}  // namespace encdec::cli
