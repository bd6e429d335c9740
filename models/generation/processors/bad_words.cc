#include "encdec/models/generation/processors/bad_words.h"

#include <algorithm>

#include "encdec/models/generation/processors/token_bans.h"

namespace encdec {

BadWords::BadWords(std::vector<std::vector<std::int32_t>> words, std::span<const std::int32_t> eos_tokens)
    : words_(std::move(words)) {
  std::erase_if(words_, [eos_tokens](const std::vector<std::int32_t>& word) {
    return word.empty() || (word.size() == 1 && std::ranges::find(eos_tokens, word[0]) != eos_tokens.end());
  });
}

void BadWords::process(const TokenHistory& history, std::span<float> scores) const {
  for (const auto& word : words_) {
    const auto beginning = std::span(word).first(word.size() - 1);
    if (history.tokens.size() < beginning.size()) continue;
    if (std::ranges::equal(beginning, history.tokens.last(beginning.size()))) ban(word.back(), scores);
  }
}

}  // namespace encdec
