#pragma once

#include "encdec/models/generation/logits_processor.h"

namespace encdec {

// Bans all tokens but the `count` likeliest (Fan et al. 2018, section 5.1). Tokens as likely as the last of them stay
// too.
class TopK final : public LogitsProcessor {
 public:
  explicit TopK(std::size_t count) : count_(count) {}
  void process(const TokenHistory& history, std::span<float> scores) const override;

 private:
  std::size_t count_;  // at least 1
};

}  // namespace encdec
