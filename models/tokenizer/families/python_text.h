#pragma once

#include <string>
#include <string_view>

namespace encdec {

// Python's str.lower: full lowercase, with a final sigma where a word ends in one.
std::string python_lower(std::string_view valid);

}  // namespace encdec
