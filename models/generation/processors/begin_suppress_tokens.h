#pragma once

#include <utility>

#include "encdec/models/generation/logits_processor.h"

namespace encdec {

// Bans `tokens` as the first token that is generated; as the second where ForcedBos chooses the first.
class BeginSuppressTokens final : public LogitsProcessor {
 public:
  enum class FirstToken : std::uint8_t { free, forced };
  BeginSuppressTokens(std::vector<std::int32_t> tokens, FirstToken first) : tokens_(std::move(tokens)), first_(first) {}
  void process(const TokenHistory& history, std::span<float> scores) const override;

 private:
  std::vector<std::int32_t> tokens_;
  FirstToken first_;
};

}  // namespace encdec
