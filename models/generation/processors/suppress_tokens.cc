#include "encdec/models/generation/processors/suppress_tokens.h"

#include "encdec/models/generation/processors/token_bans.h"

namespace encdec {

void SuppressTokens::process(const TokenHistory& /*history*/, std::span<float> scores) const {
  ban(tokens_, scores);
}

}  // namespace encdec
