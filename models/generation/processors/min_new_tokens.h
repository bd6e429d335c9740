#pragma once

#include <utility>

#include "encdec/models/generation/logits_processor.h"

namespace encdec {

// Bans the end tokens while fewer than `count` tokens were generated.
class MinNewTokens final : public LogitsProcessor {
 public:
  MinNewTokens(int count, std::vector<std::int32_t> eos_tokens)
      : count_(static_cast<std::size_t>(count)), eos_tokens_(std::move(eos_tokens)) {}
  void process(const TokenHistory& history, std::span<float> scores) const override;

 private:
  std::size_t count_;
  std::vector<std::int32_t> eos_tokens_;
};

}  // namespace encdec
