#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encdec/models/speech/audio/audio_reader.h"

namespace encdec {

// A WAV file as it should be, to be damaged.
struct WavFile {
  std::string riff = "RIFF";
  std::uint16_t tag = 1;
  std::uint16_t channels = 1;
  std::uint32_t rate = 16'000;
  std::uint16_t bits = 16;
  std::string before_data = {};  // chunks
  std::string samples = {};
  std::uint32_t data_size = 0;  // said to be; 0 for that of `samples`
  bool is_extensible = false;

  std::string bytes() const;
};

// "tag ", the size, the content, a byte that makes it even.
std::string chunk(const std::string& tag, const std::string& content);
// As it lies in memory.
template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

inline AudioInput input_of(const std::string& bytes) {
  return {bytes_of(std::as_bytes(std::span(bytes))), "x.wav"};
}
// All samples as recorded.
std::vector<float> decoded(const std::string& wav);

}  // namespace encdec
