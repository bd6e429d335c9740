#include "encdec/models/tokenizer/phrase.h"

#include <algorithm>
#include <string>

namespace encdec {

std::vector<std::int32_t> encode_after_space(const Tokenizer& tokenizer, std::string_view phrase,
                                             const EncodeOptions& options) {
  const std::string after_space = ' ' + std::string(phrase);
  // What a word in front makes of it. The space alone would not do: some tokenizers drop it, others make it a token.
  const std::string word = "a";
  const auto front = encode_target_part(tokenizer, word, options);
  auto ids = encode_target_part(tokenizer, word + after_space, options);
  if (std::ranges::mismatch(front, ids).in1 != front.end()) return encode_target_part(tokenizer, after_space, options);
  ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(front.size()));
  return ids;
}

}  // namespace encdec
