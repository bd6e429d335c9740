#pragma once

#include "encdec/speech/transcription/whisper_facts.h"

namespace encdec::tiny_en {

// Tokens of the vocabulary of Whisper tiny.en: some text, the end, and the time 0.00 s.
inline constexpr std::int32_t kVocabulary = 51864, kText = 1000, kEnd = 50256, kTimes = 50363;

inline const WhisperTokens& tokens() {
  static const WhisperTokens all(nullptr, kVocabulary, std::nullopt, "here");
  return all;
}

}  // namespace encdec::tiny_en
