#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/families/whisper.h"
#include "encdec/models/network/config.h"
#include "encdec/models/speech/features/log_mel.h"
#include "encdec/models/speech/transcription/whisper_tokens.h"

namespace encdec {

// The contents of a Whisper checkpoint other than its network.
struct WhisperFacts {
  // Throws ConfigError, naming the file, for invalid values.
  WhisperFacts(const Checkpoint& checkpoint, const TransformerConfig& config, const Tokenizer* tokenizer);

  // Returns the length of a window in frames of 10 ms.
  std::size_t window_frames() const { return static_cast<std::size_t>(positions * kWhisperFramesPerRow); }

  WhisperTokens tokens;
  LogMel mel;                                             // has no samples
  Dim positions = 0;                                      // positions of the encoder
  Dim context = 0;                                        // positions of the decoder
  std::vector<std::pair<int, int>> alignment_heads = {};  // layers and heads whose cross-attention follows the speech
  TokenIds non_speech = {};                               // tokens that are not speech, such as brackets and notes

 private:
  WhisperFacts(const Checkpoint& checkpoint, const std::optional<JsonObject>& generation_config,
               const TransformerConfig& config, const Tokenizer* tokenizer);
};

}  // namespace encdec
