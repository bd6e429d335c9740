#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "encdec/engine/base/dtype.h"
#include "encdec/engine/base/named_values.h"

namespace encdec {

// The type in which matmuls keep their weights and multiply their inputs. Sums are float32, or exact integers for int8.
// Everything else is float32, except attention: in the others it keeps keys and values in bfloat16, and on some CPUs
// also multiplies in bfloat16.
enum class Precision : std::uint8_t {
  float32,
  // Weights and inputs rounded to bfloat16: 8 bits of mantissa, half the memory of float32.
  bfloat16,
  // Weights are integers from -127 to 127 with a scale for each output. Inputs are quantised at run time in the same
  // way, with a scale for each row. A quarter of the memory of float32.
  int8,
  // Weights of int8 in 4 bits: each is one of 16 multiples of a step, which 32 neighbouring inputs of an output share.
  // 0.13 of the memory of float32.
  int4,
  // Model::load() replaces this by the fastest of the others that gives the same results as float32. Code below Model
  // never sees it.
  automatic,
};

inline constexpr std::array kPrecisionNames = {
    Named{Precision::float32, "float32"}, Named{Precision::bfloat16, "bfloat16"}, Named{Precision::int8, "int8"},
    Named{Precision::int4, "int4"},       Named{Precision::automatic, "auto"},
};

constexpr std::string_view to_string(Precision precision) {
  return name_of(kPrecisionNames, precision);
}

// Returns the precision of this name; nullopt if there is none.
constexpr std::optional<Precision> precision_named(std::string_view name) {
  return value_named<Precision>(kPrecisionNames, name);
}

// Returns the type of matmul weights in a precision. A byte (uint8) of int4 has two weights.
constexpr DataType weight_type(Precision precision) {
  return precision == Precision::bfloat16 ? DataType::bfloat16
         : precision == Precision::int8   ? DataType::int8
         : precision == Precision::int4   ? DataType::uint8
                                          : DataType::float32;
}

// Returns the precision of output projections: with 4 bits, logits would be less exact than their time is worth.
constexpr Precision output_precision(Precision precision) {
  return precision == Precision::int4 ? Precision::int8 : precision;
}

// Returns the size of one matmul weight in bytes: 4, 2, 1, or 0.53125 with its part of a step.
constexpr double weight_bytes(Precision precision) {
  return precision == Precision::int4 ? 0.53125 : static_cast<double>(size_of(weight_type(precision)));
}

}  // namespace encdec
