#include "encdec/models/speech/transcription/whisper_rules.h"

#include <algorithm>

namespace encdec {

TokenIds PromptText::last(std::size_t capacity, bool with_initial) const {
  const std::size_t first = with_initial ? std::max(initial, begin) : begin;
  const std::size_t count = std::min(capacity, tokens.size() - first);
  const auto at = [this](std::size_t i) { return tokens.begin() + static_cast<std::ptrdiff_t>(i); };
  TokenIds text(at(0), at(with_initial ? initial : 0));
  text.insert(text.end(), at(tokens.size() - count), tokens.end());
  return text;
}

const WhisperRules& WhisperRules::of(SpeechRules rules) {
  return rules == SpeechRules::openai ? openai_rules() : transformers_rules();
}

}  // namespace encdec
