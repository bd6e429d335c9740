#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace encdec {

// Element types of tensors. Computation is in float32; the others are stored (weights) or are token ids (int32).
enum class DataType : std::uint8_t { float32, float16, bfloat16, float64, int8, int16, int32, int64, uint8, boolean };

// Bytes of one element.
std::size_t size_of(DataType type);

// "float32", "bfloat16", ...
std::string_view to_string(DataType type);

// True for the types that a weight may be stored in.
constexpr bool is_weight_type(DataType type) {
  return type == DataType::float32 || type == DataType::float16 || type == DataType::bfloat16;
}

// Exact widening of IEEE 754 binary16 (subnormals, infinities and NaN kept) and of bfloat16.
float float16_to_float(std::uint16_t bits);
float bfloat16_to_float(std::uint16_t bits);

}  // namespace encdec
