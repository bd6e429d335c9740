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

// The ids of Whisper's special tokens, and the conversion between text and ids (openai/whisper tokenizer.py).
class WhisperTokens {
 public:
  // A language and its token.
  struct Language {
    std::string_view code;
    std::int32_t token;
  };

  // Looks up the ids by name in the tokenizer. If `tokenizer` is null or lacks a name, derives the id from
  // `vocabulary`, the number of tokens. Throws ConfigError, its message beginning with `origin`, if a name is missing
  // and no model of openai has `vocabulary` tokens.
  WhisperTokens(const Tokenizer* tokenizer, std::int32_t vocabulary, std::optional<bool> is_multilingual,
                const std::string& origin);

  std::int32_t end_of_text = 0;      // smaller ids are text
  std::int32_t start = 0;            // start of the transcript
  std::int32_t translate = 0;        // task
  std::int32_t transcribe = 0;       // task
  std::int32_t start_of_lm = 0;      // never used
  std::int32_t start_of_prev = 0;    // start of the previous text in a prompt
  std::int32_t no_speech = 0;        // never generated; its probability is the no-speech probability
  std::int32_t no_timestamps = 0;    // requests text without timestamps
  std::int32_t first_timestamp = 0;  // 0.00 s; each later id is kTimestampSeconds later
  bool is_multilingual = false;
  std::vector<Language> languages = {};

  static constexpr double kTimestampSeconds = 0.02;

  bool is_timestamp(std::int32_t token) const { return token >= first_timestamp; }

  // Returns the bytes of text ids: UTF-8, which may begin or end within a character. Skips other ids.
  std::string bytes(std::span<const std::int32_t> tokens) const;
  // Returns the text of ids, with U+FFFD in place of invalid UTF-8.
  std::string text(std::span<const std::int32_t> tokens) const;
  // Returns the ids of a text, without special tokens. Throws TokenizerError if there is no tokenizer.
  TokenIds encode(std::string_view text) const;

  // Returns the ids of a single space. Returns none if there is no tokenizer.
  TokenIds blank() const;

  // Returns the token of a language, given its code or English name; nullopt if the language is unknown.
  std::optional<std::int32_t> language(std::string_view name) const;
  std::string_view code_of(std::int32_t language) const;
  // Returns the codes of all languages of the model; for an English-only model "en".
  std::vector<std::string> language_codes() const;

  // Returns the tokens that are not speech, such as brackets and notes (openai/whisper tokenizer.py,
  // non_speech_tokens). Returns none if there is no tokenizer.
  TokenIds non_speech() const;

 private:
  const Tokenizer* tokenizer_;
  std::string origin_;
  std::vector<std::string> bytes_;  // by text id
};

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
