#include "encdec/models/tokenizer/phrase.h"

#include <algorithm>
#include <string>

namespace encdec {
namespace {

using Ids = std::vector<std::int32_t>;

// `around` is what encodes an empty text: special tokens for the beginning, then some for the end.
Ids without_special_tokens(Ids ids, const Ids& around) {
  if (ids.size() < around.size()) return ids;
  const auto differ = std::ranges::mismatch(ids, around).in2;
  const auto at_end = around.end() - differ;
  if (!std::equal(differ, around.end(), ids.end() - at_end)) return ids;
  return {ids.begin() + (differ - around.begin()), ids.end() - at_end};
}

}  // namespace

Ids encode_phrase(const Tokenizer& tokenizer, std::string_view phrase, PhrasePlace place,
                  const EncodeOptions& options) {
  const Ids around = tokenizer.encode_target("", options);
  const auto encode = [&](const std::string& text) {
    return without_special_tokens(tokenizer.encode_target(text, options), around);
  };
  if (place == PhrasePlace::at_start) return encode(std::string(phrase));
  // What a word in front makes of it. A space alone would not do: some tokenizers drop it, others make it a token.
  const std::string word = "a";
  const Ids front = encode(word);
  Ids ids = encode(word + ' ' + std::string(phrase));
  if (std::ranges::mismatch(front, ids).in1 != front.end()) return encode(' ' + std::string(phrase));
  ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(front.size()));
  return ids;
}

}  // namespace encdec
