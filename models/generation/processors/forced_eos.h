#pragma once

#include <utility>

#include "encdec/models/generation/logits_processor.h"

namespace encdec {

// Leaves only `tokens`, all with score 0, where the limit has room for just one more token.
class ForcedEos final : public LogitsProcessor {
 public:
  explicit ForcedEos(std::vector<std::int32_t> tokens) : tokens_(std::move(tokens)) {}
  void process(const TokenHistory& history, std::span<float> scores) const override;
  bool changes_scores(const TokenHistory& history) const override {
    return history.generated() + 1 == history.new_token_limit;
  }

 private:
  std::vector<std::int32_t> tokens_;
};

}  // namespace encdec
