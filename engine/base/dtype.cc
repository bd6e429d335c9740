#include "encdec/engine/base/dtype.h"

#include <bit>
#include <iterator>

namespace encdec {

std::string_view to_string(DataType type) {
  constexpr std::string_view kNames[] = {"float32", "float16", "bfloat16", "float64", "int8",
                                         "int16",   "int32",   "int64",    "uint8",   "boolean"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(DataType::boolean) + 1);
  return kNames[static_cast<std::size_t>(type)];
}

float float16_to_float(std::uint16_t bits) {
  // IEEE 754 binary16 has 1 bit of sign, 5 bits of exponent (bias 15) and 10 bits of mantissa.
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1Fu;
  const std::uint32_t mantissa = bits & 0x3FFu;
  if (exponent == 0) {  // zero or subnormal: mantissa * 2^-24
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  // Exponent 31 marks infinity and NaN. In float32, the same mark is exponent 255, and the bias is 127.
  const std::uint32_t widened = exponent == 31 ? 0xFFu : exponent + (127 - 15);
  return std::bit_cast<float>(sign | (widened << 23) | (mantissa << 13));
}

}  // namespace encdec
