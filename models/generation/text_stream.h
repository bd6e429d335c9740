#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/base/tokenizer.h"

namespace encdec {

// Decodes a growing sequence of tokens. Returned text is final and consists of whole characters;
// the joined texts of all calls equal decode_known() of all tokens. Text that a later token may still change is held
// back: spaces that punctuation would remove, bytes of an incomplete character, and marks of a word that continues.
// Order of calls: push* finish
class TextStream {
 public:
  // REQUIRES: `tokenizer` outlives this object.
  explicit TextStream(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}

  // Appends tokens and returns newly final text. The cost of a call does not grow with the
  // sequence.
  std::string push(std::span<const std::int32_t> tokens);
  std::string push(std::int32_t token) { return push(std::span(&token, 1)); }
  std::string finish();

 private:
  std::span<const std::int32_t> window() const;
  void shorten_window(std::string_view text);

  const Tokenizer* tokenizer_;
  std::vector<std::int32_t> tokens_;
  std::size_t returned_bytes_ = 0;
  std::size_t window_begin_ = 0;         // index of the first token that is decoded again
  std::size_t bytes_before_window_ = 0;  // bytes of text before the window
};

}  // namespace encdec
