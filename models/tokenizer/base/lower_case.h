#pragma once

#include <string>
#include <string_view>

namespace encdec {

// Returns the text with the letters A to Z in lower case. Other bytes do not change.
inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace encdec
