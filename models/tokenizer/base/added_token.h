#pragma once

#include <optional>
#include <string>

namespace encdec {

// A token that the text may contain as it stands, and what happens around it there.
struct AddedToken {
  std::string content = {};
  bool strip_left = false;   // takes the whitespace before it along
  bool strip_right = false;  // takes the whitespace after it along
  bool single_word = false;  // counts only where no word stands beside it
  // Is itself normalised, and looked for in the normalised text; absent: unless it is special. Only for pipelines.
  std::optional<bool> normalized = {};
  bool special = false;  // decoding leaves it out

  bool is_normalized() const { return normalized.value_or(!special); }
};

}  // namespace encdec
