#pragma once

#include "encdec/models/generation/logits_processor.h"

namespace encdec {

// What rules about the input look at: what the encoder read, or the prompt of a model without one.
inline std::span<const std::int32_t> input_tokens(const TokenHistory& history) {
  return history.source.empty() ? history.tokens.first(history.prompt_length) : history.source;
}

}  // namespace encdec
