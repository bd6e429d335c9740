#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace encdec {

// Element types of tensors. Activations are float32, token ids int32; the rest are for storage.
enum class DataType : std::uint8_t { float32, float16, bfloat16, float64, int8, int16, int32, int64, uint8, boolean };

// Returns the size of one element in bytes.
constexpr std::size_t size_of(DataType type) {
  switch (type) {
    case DataType::float64:
    case DataType::int64: return 8;
    case DataType::float32:
    case DataType::int32: return 4;
    case DataType::float16:
    case DataType::bfloat16:
    case DataType::int16: return 2;
    case DataType::int8:
    case DataType::uint8:
    case DataType::boolean: return 1;
  }
  return 1;
}

// Example: "bfloat16".
std::string_view to_string(DataType type);

// Returns true if weights of this type need no scale.
constexpr bool is_weight_type(DataType type) {
  return type == DataType::float32 || type == DataType::float16 || type == DataType::bfloat16 ||
         type == DataType::float64;
}
inline constexpr std::string_view kWeightTypes = "float32, float16, bfloat16 or float64";

// Convert the bits of an IEEE 754 binary16 or a bfloat16. Subnormals, infinities and NaN are kept.
float float16_to_float(std::uint16_t bits);
constexpr float bfloat16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace encdec
