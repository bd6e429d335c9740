#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "encdec/models/speech/transcription/whisper_tokens.h"

namespace encdec {

// Bans what may not follow where a text has times (openai/whisper decoding.py, ApplyTimestampRules; transformers'
// WhisperTimeStampLogitsProcessor): times come in pairs and do not decrease, the first token is one, not after
// `max_initial` steps, and where all times together are likelier than any other token, one of them comes.
class TimestampRules {
 public:
  TimestampRules(const WhisperTokens& tokens, std::optional<std::int32_t> max_initial)
      : tokens_(tokens), max_initial_(max_initial) {}

  // `sampled`: the tokens behind the prompt.
  void apply(std::span<const std::int32_t> sampled, std::span<float> logits) const;

 private:
  const WhisperTokens& tokens_;
  std::optional<std::int32_t> max_initial_;
};

}  // namespace encdec
