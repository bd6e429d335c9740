#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace encdec {

// A unit of a text, in bytes: letters of a word, digits of a number, a character of a script without spaces between
// words, or another character that is no space. Codes have their places between units.
struct TextUnit {
  std::size_t begin = 0, end = 0;
  bool goes_on = false;  // a cut divides a unit in front of this one

  bool operator==(const TextUnit&) const = default;
};

// Returns the units of valid UTF-8, in order. A unit that has a place of `cuts` within it is divided there.
// REQUIRES: `cuts` are in ascending order.
std::vector<TextUnit> units_of(std::string_view text, std::span<const std::size_t> cuts = {});

// Returns whether valid UTF-8 ends with a character of a script without spaces, or a punctuation mark of such a script.
bool ends_without_space(std::string_view text);

}  // namespace encdec
