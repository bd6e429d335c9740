#pragma once

#include "encdec/models/generation/logits_processor.h"

namespace encdec {

// Makes tokens of the history, prompt included, less likely where `penalty` is above 1 (Keskar et al. 2019, section
// 4.1): score / penalty, or score * penalty where the score is negative. Once, however often a token stands there.
class RepetitionPenalty final : public LogitsProcessor {
 public:
  explicit RepetitionPenalty(float penalty) : penalty_(penalty) {}
  void process(const TokenHistory& history, std::span<float> scores) const override;
  bool changes_scores(const TokenHistory& /*history*/) const override { return true; }

 private:
  float penalty_;
};

// The rule for any tokens.
void penalize(std::span<const std::int32_t> tokens, float penalty, std::span<float> scores);

}  // namespace encdec
