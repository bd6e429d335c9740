#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace encdec {

// In what matmuls keep their weights and multiply their inputs. Sums, and all that is not a matmul, are
// float32 in each of them.
enum class Precision : std::uint8_t {
  float32,
  // Weights and inputs rounded to bfloat16: 8 bits of mantissa, half the memory.
  bfloat16,
  // Weights as integers of -127 to 127 with a scale for each output, inputs likewise with a scale for each row, found
  // at run time; sums of integers, exact. A quarter of the memory.
  int8,
  // What Model::load takes for the fastest of these that keeps the results; nothing below it knows this one.
  automatic,
};

// "float32", "bfloat16", "int8", "auto".
std::string_view to_string(Precision precision);
std::optional<Precision> precision_named(std::string_view name);

// Bytes of a weight of a matmul: 4, 2 or 1.
std::size_t weight_bytes(Precision precision);

}  // namespace encdec
