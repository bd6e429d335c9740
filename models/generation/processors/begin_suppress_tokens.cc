#include "encdec/models/generation/processors/begin_suppress_tokens.h"

#include "encdec/models/generation/processors/token_bans.h"

namespace encdec {

void BeginSuppressTokens::process(const TokenHistory& history, std::span<float> scores) const {
  const bool first_is_forced = first_ == FirstToken::forced && history.prompt_length == 1;
  if (history.generated() == (first_is_forced ? 1u : 0u)) ban(tokens_, scores);
}

}  // namespace encdec
