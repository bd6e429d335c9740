#include "encdec/models/generation/processors/forced_bos.h"

#include "encdec/models/generation/processors/token_bans.h"

namespace encdec {

void ForcedBos::process(const TokenHistory& history, std::span<float> scores) const {
  if (changes_scores(history)) force(std::span(&token_, 1), scores);
}

}  // namespace encdec
