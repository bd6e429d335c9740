#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encdec/speech/audio/audio_reader.h"

namespace encdec {

// Returns the values as bytes in native order.
template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// Returns a chunk: tag, size, contents, and a padding byte if the size is odd.
inline std::string chunk(const std::string& tag, const std::string& content) {
  const std::string size = raw(std::vector{static_cast<std::uint32_t>(content.size())});
  return tag + size + content + std::string(content.size() % 2, '\0');
}

// A valid WAV file. Tests change members to damage it.
struct WavFile {
  std::string riff = "RIFF";
  std::uint16_t tag = 1;
  std::uint16_t channels = 1;
  std::uint32_t rate = 16'000;
  std::uint16_t bits = 16;
  std::string before_data = {};  // chunks
  std::string samples = {};
  std::uint32_t data_size = 0;  // size in the header; 0: the size of `samples`
  bool is_extensible = false;

  std::string bytes() const {
    const auto block = static_cast<std::uint16_t>(channels * ((bits + 7) / 8));
    std::string format = raw(std::vector{is_extensible ? std::uint16_t{0xFFFE} : tag, channels}) +
                         raw(std::vector{rate, rate * block}) + raw(std::vector{block, bits});
    if (is_extensible) {
      format += raw(std::vector<std::uint16_t>{22, bits, 0, 0, tag});
      format += std::string("\x00\x00\x00\x00\x10\x00\x80\x00\x00\xAA\x00\x38\x9B\x71", 14);
    }
    std::string data = chunk("data", samples);
    if (data_size != 0) data.replace(4, 4, raw(std::vector{data_size}));
    const std::string rest = "WAVE" + before_data + chunk("fmt ", format) + data;
    return riff + raw(std::vector{static_cast<std::uint32_t>(rest.size())}) + rest;
  }
};

inline AudioInput input_of(const std::string& bytes) {
  return {bytes_of(std::as_bytes(std::span(bytes))), "x.wav"};
}

}  // namespace encdec
