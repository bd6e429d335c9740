#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/base/tokenizer.h"

namespace encdec {

// A decoder from a growing sequence of tokens to text. Returned pieces are final and consist of whole characters.
// Text that a later token may still change is held back: spaces that punctuation would remove, bytes of an incomplete
// character, marks that a word continues. All pieces joined are decode_known() of all tokens.
// Order of calls: push* finish
class TextStream {
 public:
  // REQUIRES: `tokenizer` outlives this object.
  explicit TextStream(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}

  // Appends tokens and returns the text that is final now. The cost of a call does not grow with the sequence; it is
  // about the same for one token or several.
  std::string push(std::span<const std::int32_t> tokens);
  std::string push(std::int32_t token) { return push(std::span(&token, 1)); }
  // Returns the rest of the text.
  std::string finish();

 private:
  std::span<const std::int32_t> window() const;
  void shorten_window(std::string_view text);

  const Tokenizer* tokenizer_;
  std::vector<std::int32_t> tokens_;
  std::size_t returned_bytes_ = 0;  // number of bytes returned
  // Only the tokens from window_begin_ on are decoded again.
  std::size_t window_begin_ = 0;
  std::size_t bytes_before_window_ = 0;  // bytes of text before the window
};

}  // namespace encdec
