#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace encdec {

// Encodes an integer as ggml does: four bytes, little-endian.
inline std::string ggml_integer(std::int64_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

struct GgmlTensor {
  std::string name = "x";
  std::vector<std::int64_t> dims = {2, 3};  // in the order of the file: last dimension first
  std::int64_t type = 0;
  std::string data = std::string(24, 'x');
};

inline std::string ggml_tensor(const GgmlTensor& tensor) {
  std::string bytes = ggml_integer(static_cast<std::int64_t>(tensor.dims.size())) +
                      ggml_integer(static_cast<std::int64_t>(tensor.name.size())) + ggml_integer(tensor.type);
  for (const std::int64_t dim : tensor.dims) bytes += ggml_integer(dim);
  return bytes + tensor.name + tensor.data;
}

// The file of a small Whisper model.
struct GgmlFile {
  std::int64_t magic = 0x67676d6c;
  // n_vocab, n_audio_ctx, n_audio_state, n_audio_head, n_audio_layer, n_text_ctx, n_text_state, n_text_head,
  // n_text_layer, n_mels, type
  std::vector<std::int64_t> sizes = {9, 4, 8, 2, 1, 6, 8, 2, 1, 1, 2001};
  std::int64_t bands = 1;
  std::int64_t frequencies = 201;
  std::vector<std::string> texts = {"a", "\xe2"};
  std::vector<GgmlTensor> tensors = {{}};

  std::string bytes() const {
    std::string all = ggml_integer(magic);
    for (const std::int64_t size : sizes) all += ggml_integer(size);
    all += ggml_integer(bands) + ggml_integer(frequencies) + std::string(4 * 201, '\0');
    all += ggml_integer(static_cast<std::int64_t>(texts.size()));
    for (const std::string& text : texts) all += ggml_integer(static_cast<std::int64_t>(text.size())) + text;
    for (const GgmlTensor& tensor : tensors) all += ggml_tensor(tensor);
    return all;
  }
};

}  // namespace encdec
