#include "encdec/models/generation/processors/encoder_repetition_penalty.h"

#include "encdec/models/generation/processors/input_tokens.h"
#include "encdec/models/generation/processors/repetition_penalty.h"

namespace encdec {

void EncoderRepetitionPenalty::process(const TokenHistory& history, std::span<float> scores) const {
  penalize(input_tokens(history), inverse_, scores);
}

}  // namespace encdec
