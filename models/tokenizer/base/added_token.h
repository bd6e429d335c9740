#pragma once

#include <optional>
#include <string>

namespace encdec {

// A token that is searched for in the text before the text is cut into pieces.
struct AddedToken {
  std::string content = {};
  bool strip_left = false;   // removes the whitespace before the token
  bool strip_right = false;  // removes the whitespace after the token
  bool single_word = false;  // matches only if no word touches the token
  // Whether the token is normalised and searched for in the normalised text. If absent, all but special tokens are.
  // Only for pipelines.
  std::optional<bool> normalized = {};
  bool special = false;  // left out by decoding

  bool is_normalized() const { return normalized.value_or(!special); }
};

}  // namespace encdec
