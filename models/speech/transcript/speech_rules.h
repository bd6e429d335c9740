#pragma once

#include <cstdint>

namespace encdec {

// Whose way of transcribing recordings: where both have given a name to something, they do not always mean the same.
enum class SpeechRules : std::uint8_t {
  openai,        // openai/whisper, transcribe.py
  transformers,  // transformers, generation_whisper.py
};

}  // namespace encdec
