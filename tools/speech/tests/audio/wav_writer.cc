#include "tools/speech/tests/audio/wav_writer.h"

namespace encdec {
namespace {

template <class T>
std::string number(T value) {
  return raw(std::vector<T>{value});
}

}  // namespace

std::string chunk(const std::string& tag, const std::string& content) {
  return tag + number(static_cast<std::uint32_t>(content.size())) + content + std::string(content.size() % 2, '\0');
}

std::string WavFile::bytes() const {
  const auto block = static_cast<std::uint16_t>(channels * ((bits + 7) / 8));
  std::string format = number(is_extensible ? std::uint16_t{0xFFFE} : tag) + number(channels) + number(rate) +
                       number(rate * block) + number(block) + number(bits);
  if (is_extensible) {
    format += number(std::uint16_t{22}) + number(bits) + number(std::uint32_t{0}) + number(tag);
    format += std::string("\x00\x00\x00\x00\x10\x00\x80\x00\x00\xAA\x00\x38\x9B\x71", 14);
  }
  std::string data = chunk("data", samples);
  if (data_size != 0) data.replace(4, 4, number(data_size));
  const std::string rest = "WAVE" + before_data + chunk("fmt ", format) + data;
  return riff + number(static_cast<std::uint32_t>(rest.size())) + rest;
}

std::vector<float> decoded(const std::string& wav) {
  const auto decoder = open_wav(input_of(wav));
  const auto channels = static_cast<std::size_t>(decoder->format().channels);
  std::vector<float> all, piece(3 * channels);
  for (;;) {
    const std::size_t frames = decoder->read(piece);
    all.insert(all.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(frames * channels));
    if (frames < 3) return all;
  }
}

}  // namespace encdec
