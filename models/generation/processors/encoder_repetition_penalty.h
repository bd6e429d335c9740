#pragma once

#include "encdec/models/generation/logits_processor.h"

namespace encdec {

// Makes tokens of the input more likely where `penalty` is above 1: the inverse of RepetitionPenalty, for what the
// encoder read, or for the prompt where there is no encoder.
class EncoderRepetitionPenalty final : public LogitsProcessor {
 public:
  explicit EncoderRepetitionPenalty(float penalty) : inverse_(static_cast<float>(1.0 / double{penalty})) {}
  void process(const TokenHistory& history, std::span<float> scores) const override;
  bool changes_scores(const TokenHistory& /*history*/) const override { return true; }

 private:
  float inverse_;
};

}  // namespace encdec
