#include "encdec/models/generation/processors/exponential_decay_length_penalty.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "encdec/models/generation/processors/token_bans.h"

namespace encdec {

ExponentialDecayLengthPenalty::ExponentialDecayLengthPenalty(ExponentialDecay decay,
                                                             std::vector<std::int32_t> eos_tokens)
    : start_(static_cast<std::size_t>(decay.start)), factor_(decay.factor), eos_tokens_(std::move(eos_tokens)) {
  std::ranges::sort(eos_tokens_);
  eos_tokens_.erase(std::unique(eos_tokens_.begin(), eos_tokens_.end()), eos_tokens_.end());
}

void ExponentialDecayLengthPenalty::process(const TokenHistory& history, std::span<float> scores) const {
  if (!changes_scores(history)) return;
  constexpr float kMax = std::numeric_limits<float>::max();
  const double growth = std::pow(factor_, static_cast<double>(history.generated() - start_)) - 1.0;
  const auto share = static_cast<float>(std::min(growth, double{kMax}));
  for (const std::int32_t token : eos_tokens_) {
    float* score = score_of(token, scores);
    if (score == nullptr || !std::isfinite(*score)) continue;
    *score = std::min(*score + std::min(std::fabs(*score) * share, kMax), kMax);
  }
}

}  // namespace encdec
