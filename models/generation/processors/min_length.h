#pragma once

#include <utility>

#include "encdec/models/generation/logits_processor.h"

namespace encdec {

// Bans the end tokens while the history, prompt included, is shorter than `length`.
class MinLength final : public LogitsProcessor {
 public:
  MinLength(int length, std::vector<std::int32_t> eos_tokens)
      : length_(static_cast<std::size_t>(length)), eos_tokens_(std::move(eos_tokens)) {}
  void process(const TokenHistory& history, std::span<float> scores) const override;

 private:
  std::size_t length_;
  std::vector<std::int32_t> eos_tokens_;
};

}  // namespace encdec
