#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encdec/models/checkpoint/safetensors.h"
#include "tests/support/damage.h"
#include "tests/support/message_of.h"

namespace encdec {

// Returns a tensor whose bytes count up from `first`.
inline Tensor counting(const Shape& shape, DataType type = DataType::float32, int first = 0) {
  Tensor tensor = Tensor::allocate(shape, type);
  for (std::size_t i = 0; i < tensor.bytes(); ++i)
    tensor.raw()[i] = static_cast<std::byte>(first + static_cast<int>(i));
  return tensor;
}

inline std::string text_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.raw()), tensor.bytes()};
}

inline WeightStore safetensors_of(const std::string& text) {
  const ExactBytes memory(text);
  return std::move(*parse_safetensors({memory.bytes(), memory.owner(), "x.safetensors"}));
}

// Returns the error of parsing `text`, without the file's name.
inline std::string safetensors_refusal(const std::string& text) {
  constexpr std::string_view kFile = "x.safetensors: ";
  const std::string message = refusal_of(kFile, [&] { safetensors_of(text); });
  return message.starts_with(kFile) ? message.substr(kFile.size()) : message;
}

inline std::string entry(std::string_view name, std::string_view type, std::string_view shape,
                         std::string_view offsets) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":{}}})", name, type, shape, offsets);
}

inline std::string header_of(const std::vector<std::string>& entries) {
  return fmt::format("{{{}}}", fmt::join(entries, ","));
}

inline std::string zeros(std::size_t count) {
  return std::string(count, '\0');
}

}  // namespace encdec
