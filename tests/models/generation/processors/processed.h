#pragma once

#include <utility>
#include <vector>

#include "encdec/models/generation/logits_processor.h"
#include "encdec/models/generation/processors/token_bans.h"

namespace encdec {

using Tokens = std::vector<std::int32_t>;
using Scores = std::vector<float>;

inline const Tokens kStart = {0};

// What a rule makes of `scores` after `history`.
inline Scores processed(const LogitsProcessor& rule, const TokenHistory& history, Scores scores) {
  rule.process(history, scores);
  return scores;
}

// The same after a prompt of one token, for four tokens with scores 0.5, 1.5, 2.5 and 3.5.
inline Scores processed(const LogitsProcessor& rule, const Tokens& history) {
  return processed(rule, {.tokens = history}, {0.5f, 1.5f, 2.5f, 3.5f});
}

}  // namespace encdec
