#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "encdec/engine/base/dtype.h"
#include "encdec/engine/base/named_values.h"

namespace encdec {

// The type of matmul weights and of the inputs that they are multiplied with. Accumulators are
// float32, or exact integers for int8 and int4. Everything else is float32, except attention: with
// precisions other than float32 it stores keys and values in bfloat16, and with AVX-512 BF16 it
// multiplies in bfloat16 too.
enum class Precision : std::uint8_t {
  float32,
  // Weights and inputs are rounded to bfloat16 (8 bits of mantissa). Half the memory of float32.
  bfloat16,
  // Weights are integers from -127 to 127 with one scale per output. Inputs are quantised at run
  // time with one scale per row. A quarter of the memory of float32.
  int8,
  // Like int8, but each weight is one of 16 multiples of a step. In an output, the weights of 32
  // neighbouring inputs share one step. 0.13 of the memory of float32.
  int4,
  // Model::load() replaces this value by the fastest precision whose results equal float32. Code below Model never sees
  // it.
  automatic,
};

inline constexpr std::array kPrecisionNames = {
    Named{Precision::float32, "float32"}, Named{Precision::bfloat16, "bfloat16"}, Named{Precision::int8, "int8"},
    Named{Precision::int4, "int4"},       Named{Precision::automatic, "auto"},
};

constexpr std::string_view to_string(Precision precision) {
  return name_of(kPrecisionNames, precision);
}

// Returns nullopt if no precision has this name.
constexpr std::optional<Precision> precision_named(std::string_view name) {
  return value_named<Precision>(kPrecisionNames, name);
}

// Returns the storage type of matmul weights. For int4 it is uint8, two weights per byte.
constexpr DataType weight_type(Precision precision) {
  return precision == Precision::bfloat16 ? DataType::bfloat16
         : precision == Precision::int8   ? DataType::int8
         : precision == Precision::int4   ? DataType::uint8
                                          : DataType::float32;
}

// Returns the precision of output projections. Logits would lose too much accuracy in int4.
constexpr Precision output_precision(Precision precision) {
  return precision == Precision::int4 ? Precision::int8 : precision;
}

// Returns the bytes per matmul weight: 4, 2 or 1, or for int4 17 / 32, because 32 weights and their step take 17 bytes.
constexpr double weight_bytes(Precision precision) {
  return precision == Precision::int4 ? 0.53125 : static_cast<double>(size_of(weight_type(precision)));
}

}  // namespace encdec
