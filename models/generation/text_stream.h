#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/base/tokenizer.h"

namespace encdec {

// The text of a sequence that grows token by token, told piece by piece: what has been told never changes, and never
// ends within a character. Held back is what later tokens may still take away: spaces before punctuation, bytes that
// are not yet a character, signs that a word goes on. All pieces together are decode_known() of all tokens.
class TextStream {
 public:
  // Keeps a reference to the tokenizer.
  explicit TextStream(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}

  // What has become certain with these tokens. Costs as much for many tokens as for one, and not more for a long
  // sequence than for a short one.
  std::string push(std::span<const std::int32_t> tokens);
  std::string push(std::int32_t token) { return push(std::span(&token, 1)); }
  // The rest: no token comes after this.
  std::string finish();

 private:
  std::span<const std::int32_t> window() const;
  void shorten_window(std::string_view text);

  const Tokenizer* tokenizer_;
  std::vector<std::int32_t> tokens_;
  std::size_t told_ = 0;  // bytes
  // Only the last tokens are decoded, and so many of the bytes told are before them.
  std::size_t window_begin_ = 0;
  std::size_t told_before_window_ = 0;
};

}  // namespace encdec
