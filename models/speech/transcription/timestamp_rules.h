#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "encdec/models/speech/transcription/whisper_tokens.h"

namespace encdec {

// Bans the tokens that must not follow `sampled`, the tokens after the prompt, in texts with timestamps (openai/whisper
// decoding.py, ApplyTimestampRules):
// - The first token is a timestamp, of at most `max_initial` seconds.
// - Later timestamps come in pairs: the end of a segment and the start of the next. They do not decrease.
// - If all timestamps together are likelier than any other single token, the next token is a timestamp.
void apply_timestamp_rules(const WhisperTokens& tokens, std::optional<double> max_initial,
                           std::span<const std::int32_t> sampled, std::span<float> logits);

}  // namespace encdec
