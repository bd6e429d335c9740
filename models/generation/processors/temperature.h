#pragma once

#include "encdec/models/generation/logits_processor.h"

namespace encdec {

// Divides all scores by `temperature`: below 1 the likeliest tokens become still likelier.
class Temperature final : public LogitsProcessor {
 public:
  explicit Temperature(float temperature) : temperature_(temperature) {}
  void process(const TokenHistory& history, std::span<float> scores) const override;
  bool changes_scores(const TokenHistory& /*history*/) const override { return true; }

 private:
  float temperature_;  // above 0
};

}  // namespace encdec
