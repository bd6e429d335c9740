#pragma once

#include <cstddef>
#include <cstdint>

namespace encdec::kernels {

// The form in which a matmul kernel reads the rows of its input.
// The integer forms use symmetric quantisation per row: scale = max |x| / 127 and q = round(x / scale), so that q has
// 127 levels on each side of zero and -128 is not used ("scale quantization" of Wu et al. 2020, Integer Quantization
// for Deep Learning Inference, section 3.1.2).
enum class InputForm : std::uint8_t {
  float32,
  rounded_float32,      // floats, rounded to bfloat16
  dequantized_float32,  // floats q * scale
  bfloat16,
  uint8,  // q + 128
  int8,   // q
  int16,  // q
};

// Returns the size of one element in bytes.
std::size_t element_bytes(InputForm form);

// Converts a row of `width` floats to a form, rounding to the nearest, ties to even. Returns the scale of an integer
// form, 1 for other forms. The scale of a row of zeros, or with max |x| below 1e-35, is 0. The scale of a row with NaN
// or infinity is NaN.
float convert_row(InputForm form, const float* row, int width, std::byte* output);

// Returns true if each of the `width` floats has a value of bfloat16, or of float16. No NaN counts as float16; an
// infinity may or may not.
bool are_bfloat16(const float* row, int width);
bool are_float16(const float* row, int width);
// Converts a row of floats to float16, rounding to the nearest, ties to even.
void convert_to_float16(const float* row, int width, std::uint16_t* output);

// Quantises a row of weights to q as above and returns its scale. If `factor` is not 0 and no |x * factor| rounds to
// more than 127, then q = round(x * factor) and the scale is 1 / factor.
float quantize_weights(const float* row, int width, float factor, std::int8_t* output);

// Weights of 4 bits are int8 weights q = (code - 8) * step. Codes are from 0 to 15. A step, from -15 to 15, belongs to
// a block of kNibbleBlock weights of an output. So every kernel of int8 gives the same sums once q are unpacked.
inline constexpr int kNibbleBlock = 32;
inline constexpr int kMaxNibbleStep = 15;
// Quantises a row of weights, whose last block is filled up with zeros. Returns the scale of q: max |x| / 120, or 0 or
// NaN as above.
float quantize_nibbles(const float* row, int width, std::uint8_t* codes, std::int8_t* steps);

}  // namespace encdec::kernels
