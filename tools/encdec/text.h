#pragma once

#include <string>
#include <string_view>

namespace encdec::cli {

// Throws InputError with the line's position and the byte where it stops being UTF-8.
void check_utf8(std::string_view line, const std::string& position);

// The text on one line: control characters become '?'. Messages and tables may quote what hostile files contain.
std::string printable(std::string_view text);

// The text as one line of output, which belongs to one line of input: line ends in it become spaces.
std::string as_line(std::string text);

}  // namespace encdec::cli
