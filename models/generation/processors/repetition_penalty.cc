#include "encdec/models/generation/processors/repetition_penalty.h"

#include <algorithm>

#include "encdec/models/generation/processors/token_bans.h"

namespace encdec {

void penalize(std::span<const std::int32_t> tokens, float penalty, std::span<float> scores) {
  std::vector<std::int32_t> distinct(tokens.begin(), tokens.end());
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (const std::int32_t token : distinct) {
    float* score = score_of(token, scores);
    if (score == nullptr) continue;
    *score = *score < 0 ? *score * penalty : *score / penalty;
  }
}

void RepetitionPenalty::process(const TokenHistory& history, std::span<float> scores) const {
  penalize(history.tokens, penalty_, scores);
}

}  // namespace encdec
