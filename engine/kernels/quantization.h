#pragma once

#include <cstddef>
#include <cstdint>

namespace encdec::kernels {

// In what form a matmul takes the rows of its input.
enum class InputForm : std::uint8_t {
  float32,
  rounded_float32,  // rounded to bfloat16, as floats
  bfloat16,
  uint8,  // q + 128 with q = round(x / scale) in [-127, 127] and scale = max |x| / 127
  int8,   // the same q
  int16,  // the same q
};

std::size_t element_bytes(InputForm form);

// Writes a row of `width` values in a form, nearest to even. Returns the scale where the form has one, else 1: 0 for a
// row of zeros, not a number for a row in which a value is not finite.
float convert_row(InputForm form, const float* row, int width, std::byte* output);

// q of above as int8, for a row of weights; returns its scale.
float quantize_weights(const float* row, int width, std::int8_t* output);

}  // namespace encdec::kernels
