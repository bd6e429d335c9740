#pragma once

#include "encdec/models/generation/logits_processor.h"

namespace encdec {

// Bans the least likely tokens, as many as have a probability of at most 1 - p together (Holtzman et al. 2020, section
// 3.1); `min_tokens` stay in any case. Of equally likely tokens those with higher ids go first, so that p = 0 leaves
// what greedy search takes; transformers leaves their order open.
class TopP final : public LogitsProcessor {
 public:
  TopP(float p, std::size_t min_tokens) : tail_(1.0 - double{p}), min_tokens_(min_tokens) {}
  void process(const TokenHistory& history, std::span<float> scores) const override;

 private:
  double tail_;
  std::size_t min_tokens_;  // at least 1
};

}  // namespace encdec
