#include "encdec/models/generation/processors/min_length.h"

#include "encdec/models/generation/processors/token_bans.h"

namespace encdec {

void MinLength::process(const TokenHistory& history, std::span<float> scores) const {
  if (history.tokens.size() < length_) ban(eos_tokens_, scores);
}

}  // namespace encdec
