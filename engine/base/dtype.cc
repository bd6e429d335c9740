#include "encdec/engine/base/dtype.h"

#include <algorithm>
#include <bit>

namespace encdec {

namespace {

struct Described {
  DataType type;
  std::string_view name;
  std::size_t bytes;
};

// In the order of the enumerators.
constexpr Described kTypes[] = {
    {DataType::float32, "float32", 4}, {DataType::float16, "float16", 2}, {DataType::bfloat16, "bfloat16", 2},
    {DataType::float64, "float64", 8}, {DataType::int8, "int8", 1},       {DataType::int16, "int16", 2},
    {DataType::int32, "int32", 4},     {DataType::int64, "int64", 8},     {DataType::uint8, "uint8", 1},
    {DataType::boolean, "boolean", 1},
};

constexpr const Described& described(DataType type) {
  return kTypes[static_cast<std::size_t>(type)];
}

static_assert(std::ranges::all_of(kTypes, [](const Described& row) { return described(row.type).name == row.name; }));

}  // namespace

std::size_t size_of(DataType type) {
  return described(type).bytes;
}

std::string_view to_string(DataType type) {
  return described(type).name;
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
