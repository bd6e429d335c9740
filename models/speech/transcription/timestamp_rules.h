#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "encdec/models/speech/transcription/whisper_tokens.h"

namespace encdec {

// The rules of texts with timestamps (openai/whisper decoding.py, ApplyTimestampRules):
// - The first token is a timestamp, of at most `max_initial` steps.
// - Later timestamps come in pairs: the end of a segment and the start of the next. They do not decrease.
// - If all timestamps together are likelier than any other single token, the next token is a timestamp.
class TimestampRules {
 public:
  TimestampRules(const WhisperTokens& tokens, std::optional<std::int32_t> max_initial)
      : tokens_(tokens), max_initial_(max_initial) {}

  // Bans the tokens that must not follow `sampled`, the tokens after the prompt.
  void apply(std::span<const std::int32_t> sampled, std::span<float> logits) const;

 private:
  const WhisperTokens& tokens_;
  std::optional<std::int32_t> max_initial_;
};

}  // namespace encdec
