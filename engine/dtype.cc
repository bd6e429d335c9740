#include "encdec/engine/dtype.h"

#include <bit>

namespace encdec {

std::size_t size_of(DataType type) {
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
  return 0;
}

std::string_view to_string(DataType type) {
  switch (type) {
    case DataType::float32: return "float32";
    case DataType::float16: return "float16";
    case DataType::bfloat16: return "bfloat16";
    case DataType::float64: return "float64";
    case DataType::int8: return "int8";
    case DataType::int16: return "int16";
    case DataType::int32: return "int32";
    case DataType::int64: return "int64";
    case DataType::uint8: return "uint8";
    case DataType::boolean: return "boolean";
  }
  return "unknown";
}

float float16_to_float(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1Fu;
  const std::uint32_t mantissa = bits & 0x3FFu;
  if (exponent == 0) {  // zero or subnormal: mantissa * 2^-24
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t widened = exponent == 31 ? 0xFFu : exponent + (127 - 15);
  return std::bit_cast<float>(sign | (widened << 23) | (mantissa << 13));
}

float bfloat16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace encdec
