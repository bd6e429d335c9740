#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/network/config.h"
#include "encdec/models/speech/features/log_mel.h"
#include "encdec/models/speech/transcription/whisper_tokens.h"

namespace encdec {

// What a checkpoint of Whisper says beyond its network.
struct WhisperFacts {
  // Throws ConfigError, naming the file, for what cannot be.
  WhisperFacts(const Checkpoint& checkpoint, const TransformerConfig& config, const Tokenizer* tokenizer);

  // Frames of 10 ms that the model hears at once.
  std::size_t window_frames() const { return static_cast<std::size_t>(positions * kFramesPerRow); }

  WhisperTokens tokens;
  LogMel mel;  // without samples
  Dim positions = 0;
  Dim context = 0;                                        // most tokens of the decoder
  std::vector<std::pair<int, int>> alignment_heads = {};  // layer and head of the decoder that follow the speech
  TokenIds non_speech = {};                               // tokens that nobody speaks

  // What a folder of transformers says of how to search.
  struct Generation {
    TokenIds suppressed = {};                                // must not be produced
    TokenIds suppressed_first = {};                          // nor these as the first
    std::optional<std::int32_t> max_initial_timestamp = {};  // steps of kTimestampSeconds
  };
  std::optional<Generation> generation = {};

 private:
  WhisperFacts(const Checkpoint& checkpoint, const std::optional<JsonObject>& generation_config,
               const TransformerConfig& config, const Tokenizer* tokenizer);
};

}  // namespace encdec
