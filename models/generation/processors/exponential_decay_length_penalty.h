#pragma once

#include "encdec/models/generation/logits_processor.h"

namespace encdec {

// Makes the end tokens likelier, the longer the result: score + |score| * (factor^(n - start) - 1) after n > start
// generated tokens. Banned ones stay banned, and no score becomes infinite.
class ExponentialDecayLengthPenalty final : public LogitsProcessor {
 public:
  ExponentialDecayLengthPenalty(ExponentialDecay decay, std::vector<std::int32_t> eos_tokens);
  void process(const TokenHistory& history, std::span<float> scores) const override;
  bool changes_scores(const TokenHistory& history) const override { return history.generated() > start_; }

 private:
  std::size_t start_;
  double factor_;
  std::vector<std::int32_t> eos_tokens_;  // each once
};

}  // namespace encdec
