#include "encdec/models/generation/processors/min_new_tokens.h"

#include "encdec/models/generation/processors/token_bans.h"

namespace encdec {

void MinNewTokens::process(const TokenHistory& history, std::span<float> scores) const {
  if (history.generated() < count_) ban(eos_tokens_, scores);
}

}  // namespace encdec
