#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace encdec {

// Returns true if `is(word)` holds for a word in a space-separated list such as "area base br".
template <typename Is>
bool any_word(std::string_view list, const Is& is) {
  constexpr std::string_view kSpaces = " \t\n\f\r";
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(kSpaces), list.size());
    if (end > 0 && is(list.substr(0, end))) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

inline bool has_word(std::string_view list, std::string_view word) {
  return any_word(list, [word](std::string_view other) { return other == word; });
}

}  // namespace encdec
