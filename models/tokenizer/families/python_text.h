#pragma once

#include <string>
#include <string_view>

namespace encdec {

// Lowercases like Python's str.lower: full lowercase, and a final sigma (ς) at the end of a word.
std::string python_lower(std::string_view valid);

}  // namespace encdec
