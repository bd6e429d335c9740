#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/session/token_ids.h"
#include "encdec/models/tokenizer/base/tokenizer.h"

namespace encdec {

// The ids that tell Whisper what to do (openai/whisper tokenizer.py), and what its text ids stand for.
class WhisperTokens {
 public:
  // A language and its token.
  struct Language {
    std::string_view code;
    std::int32_t token;
  };

  // By the tokenizer's names or, where it is null or does not have them, by the size of the vocabulary. Throws
  // ConfigError, beginning with `origin`, where neither tells them.
  WhisperTokens(const Tokenizer* tokenizer, std::int32_t vocabulary, std::optional<bool> is_multilingual,
                const std::string& origin);

  std::int32_t end_of_text = 0;      // ids below are text
  std::int32_t start = 0;            // of the transcript
  std::int32_t translate = 0;        // the task
  std::int32_t transcribe = 0;       // the task
  std::int32_t start_of_lm = 0;      // never used
  std::int32_t start_of_prev = 0;    // before the text of earlier windows
  std::int32_t no_speech = 0;        // its probability counts
  std::int32_t no_timestamps = 0;    // text alone
  std::int32_t first_timestamp = 0;  // 0.00 s; the others follow in steps of kTimestampSeconds
  bool is_multilingual = false;
  std::vector<Language> languages = {};  // by token

  static constexpr double kTimestampSeconds = 0.02;

  bool is_timestamp(std::int32_t token) const { return token >= first_timestamp; }

  // The bytes of text ids: UTF-8, perhaps with a part of a character at either end; others are left out.
  std::string bytes(std::span<const std::int32_t> tokens) const;
  // The text of ids, U+FFFD in place of what is none.
  std::string text(std::span<const std::int32_t> tokens) const;
  // What such text is written with, between other text. Throws TokenizerError where there is no tokenizer.
  TokenIds encode(std::string_view text) const;

  // The token of a language by its code or its English name; nullopt if it is not known.
  std::optional<std::int32_t> language(std::string_view name) const;
  std::string_view code_of(std::int32_t language) const;
  // Codes of the languages that it may be told: of models that know English alone, that.
  std::vector<std::string> spoken() const;

  // Tokens that are nothing that is spoken (openai/whisper tokenizer.py, non_speech_tokens): brackets, notes and such.
  // None without a tokenizer.
  TokenIds non_speech() const;

 private:
  const Tokenizer* tokenizer_;
  std::string origin_;
  std::vector<std::string> bytes_;  // by text id
};

}  // namespace encdec
