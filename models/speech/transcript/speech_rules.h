#pragma once

#include <cstdint>

namespace encdec {

// The program whose decoding rules are followed. TranscribeOptions::rules lists the differences.
enum class SpeechRules : std::uint8_t {
  openai,        // openai/whisper, transcribe.py
  transformers,  // transformers, generation_whisper.py
};

}  // namespace encdec
