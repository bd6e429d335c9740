#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace encdec {

// Text from a file as messages show it: one line of ASCII with the escapes of JSON, cut off after `limit` bytes.
std::string printable(std::string_view text, std::size_t limit = 100);

}  // namespace encdec
