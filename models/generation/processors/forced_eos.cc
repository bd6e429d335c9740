#include "encdec/models/generation/processors/forced_eos.h"

#include "encdec/models/generation/processors/token_bans.h"

namespace encdec {

void ForcedEos::process(const TokenHistory& history, std::span<float> scores) const {
  if (changes_scores(history)) force(tokens_, scores);
}

}  // namespace encdec
