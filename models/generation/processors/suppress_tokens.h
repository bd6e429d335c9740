#pragma once

#include <utility>

#include "encdec/models/generation/logits_processor.h"

namespace encdec {

// Bans `tokens`, always.
class SuppressTokens final : public LogitsProcessor {
 public:
  explicit SuppressTokens(std::vector<std::int32_t> tokens) : tokens_(std::move(tokens)) {}
  void process(const TokenHistory& history, std::span<float> scores) const override;

 private:
  std::vector<std::int32_t> tokens_;
};

}  // namespace encdec
