#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/families/whisper.h"
#include "encdec/models/network/config.h"
#include "encdec/models/session/token_ids.h"
#include "encdec/models/tokenizer/base/tokenizer.h"
#include "encdec/speech/features/log_mel.h"

namespace encdec {

// Whisper's special tokens, and conversion between text and ids (openai/whisper tokenizer.py).
class WhisperTokens {
 public:
  struct Language {
    std::string_view code;
    std::int32_t token;
  };

  // Looks up each special token in the tokenizer. If `tokenizer` is null or does not have the token, derives the id
  // from `vocabulary`, the size of the vocabulary. Throws ConfigError if openai has no model with this size. The
  // message begins with `origin`.
  WhisperTokens(const Tokenizer* tokenizer, std::int32_t vocabulary, std::optional<bool> is_multilingual,
                const std::string& origin);

  std::int32_t end_of_text = 0;      // smaller ids are text tokens
  std::int32_t start = 0;            // start of the transcript
  std::int32_t translate = 0;        // the task "translate"
  std::int32_t transcribe = 0;       // the task "transcribe"
  std::int32_t start_of_lm = 0;      // never generated
  std::int32_t start_of_prev = 0;    // precedes the previous text in a prompt
  std::int32_t no_speech = 0;        // never generated; the probability of this token is the no-speech probability
  std::int32_t no_timestamps = 0;    // requests text without timestamps
  std::int32_t first_timestamp = 0;  // 0.00 s; each later id adds kTimestampSeconds
  bool is_multilingual = false;
  std::vector<Language> languages = {};

  static constexpr double kTimestampSeconds = 0.02;

  bool is_timestamp(std::int32_t token) const { return token >= first_timestamp; }

  // Returns the bytes of text tokens. The bytes may begin or end within a character. Skips other tokens.
  std::string bytes(std::span<const std::int32_t> tokens) const;
  // Returns bytes() with U+FFFD in place of invalid UTF-8.
  std::string text(std::span<const std::int32_t> tokens) const;
  // Encodes a text without special tokens. Throws TokenizerError without a tokenizer.
  TokenIds encode(std::string_view text) const;

  // Returns the tokens of a single space, or no tokens if there is no tokenizer.
  TokenIds blank() const;

  // Returns the token of a language. `name` is a code or an English name. Returns nullopt if the language is unknown.
  std::optional<std::int32_t> language(std::string_view name) const;
  std::string_view code_of(std::int32_t language) const;
  // Returns {"en"} for an English-only model.
  std::vector<std::string> language_codes() const;

  // Returns tokens that are not speech, such as brackets (openai/whisper tokenizer.py, non_speech_tokens).
  // Returns no tokens if there is no tokenizer.
  TokenIds non_speech() const;

 private:
  const Tokenizer* tokenizer_;
  std::string origin_;
  std::vector<std::string> bytes_;  // the bytes of each text token
};

// The parts of a Whisper checkpoint other than its network.
struct WhisperFacts {
  // Throws ConfigError for invalid values.
  WhisperFacts(const Checkpoint& checkpoint, const TransformerConfig& config, const Tokenizer* tokenizer);

  // Returns the number of 10 ms frames in a window.
  std::size_t window_frames() const { return static_cast<std::size_t>(positions * kWhisperFramesPerRow); }

  WhisperTokens tokens;
  LogMel mel;         // an empty LogMel, to be copied
  Dim positions = 0;  // number of encoder positions
  Dim context = 0;    // number of decoder positions
  // Pairs (layer, head) of the decoder whose cross-attention follows the speech.
  std::vector<std::pair<int, int>> alignment_heads = {};
  TokenIds non_speech = {};  // tokens.non_speech()

 private:
  WhisperFacts(const Checkpoint& checkpoint, const std::optional<JsonObject>& generation_config,
               const TransformerConfig& config, const Tokenizer* tokenizer);
};

}  // namespace encdec
