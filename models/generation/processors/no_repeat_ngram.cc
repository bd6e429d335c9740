#include "encdec/models/generation/processors/no_repeat_ngram.h"

#include <algorithm>

#include "encdec/models/generation/processors/input_tokens.h"
#include "encdec/models/generation/processors/token_bans.h"

namespace encdec {

void NoRepeatNgram::process(const TokenHistory& history, std::span<float> scores) const {
  if (history.tokens.size() + 1 < size_) return;
  const auto begun = history.tokens.last(size_ - 1);
  const auto seen = where_ == Where::history ? history.tokens : input_tokens(history);
  for (std::size_t first = 0; first + size_ <= seen.size(); ++first) {
    const auto ngram = seen.subspan(first, size_);
    if (std::ranges::equal(ngram.first(size_ - 1), begun)) ban(ngram.back(), scores);
  }
}

}  // namespace encdec
