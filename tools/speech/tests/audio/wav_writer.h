#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encdec/speech/audio/audio_reader.h"

namespace encdec {

// A valid WAV file. Tests change members to damage it.
struct WavFile {
  std::string riff = "RIFF";
  std::uint16_t tag = 1;
  std::uint16_t channels = 1;
  std::uint32_t rate = 16'000;
  std::uint16_t bits = 16;
  std::string before_data = {};  // chunks
  std::string samples = {};
  std::uint32_t data_size = 0;  // size in the header; 0 for the size of `samples`
  bool is_extensible = false;

  std::string bytes() const;
};

// Returns a chunk: the tag, the size, the content, and a padding byte if the size is odd.
std::string chunk(const std::string& tag, const std::string& content);
// Returns the values as bytes, in the order of the machine.
template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

inline AudioInput input_of(const std::string& bytes) {
  return {bytes_of(std::as_bytes(std::span(bytes))), "x.wav"};
}
// Returns all samples, without resampling or mixing.
std::vector<float> decoded(const std::string& wav);

}  // namespace encdec
