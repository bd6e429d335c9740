#pragma once

#include "encdec/models/generation/logits_processor.h"

namespace encdec {

// Leaves only `token`, with score 0, after a history of one token: after a start token without a prefix.
class ForcedBos final : public LogitsProcessor {
 public:
  explicit ForcedBos(std::int32_t token) : token_(token) {}
  void process(const TokenHistory& history, std::span<float> scores) const override;
  bool changes_scores(const TokenHistory& history) const override { return history.tokens.size() == 1; }

 private:
  std::int32_t token_;
};

}  // namespace encdec
