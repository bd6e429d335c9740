#pragma once

#include <cstddef>
#include <cstdint>

namespace encdec::kernels {

// Data type of a matmul's input rows.
// Integers are quantised symmetrically per row: scale = max |x| / 127, q = round(x / scale), which
// never gives -128 ("scale quantization" in Wu et al. 2020, Integer Quantization for Deep Learning
// Inference, section 3.1.2).
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

// Converts a row of floats, rounding to nearest even. Returns the scale of integers, otherwise 1.
// The scale is 0 if max |x| is below 1e-35, and NaN if the row contains NaN or infinity.
float convert_row(InputForm form, const float* row, int width, std::byte* output);

// Return true if bfloat16, or float16, represents all `width` floats exactly. For float16, returns false if there is a
// NaN; an infinity may be reported as exact or not.
bool are_exact_in_bfloat16(const float* row, int width);
bool are_exact_in_float16(const float* row, int width);
// Converts to float16, rounding to nearest even.
void convert_to_float16(const float* row, int width, std::uint16_t* output);

// Quantises a row of weights as above and returns the scale. If `factor` is not 0 and all |x *
// factor| round to at most 127, uses q = round(x * factor) and the scale 1 / factor instead.
float quantize_weights(const float* row, int width, float factor, std::int8_t* output);

// 4-bit weights are int8 weights q = (code - 8) * step, with codes from 0 to 15. Blocks of
// kNibbleBlock weights of an output share a step from -15 to 15. Any int8 kernel can multiply q.
inline constexpr int kNibbleBlock = 32;
inline constexpr int kMaxNibbleStep = 15;
// Quantises a row of weights, padded with zeros to whole blocks. Returns the scale of q: max |x| /
// 120, or 0 or NaN as above.
float quantize_nibbles(const float* row, int width, std::uint8_t* codes, std::int8_t* steps);

}  // namespace encdec::kernels
