#pragma once

#include <cstddef>
#include <cstdint>

#include "encdec/engine/kernels/matmul_epilogue.h"
#include "encdec/engine/kernels/panel_order.h"

namespace encdec::kernels {

enum class NeonWeights { bfloat16, int8 };

// A matrix [K, N] in narrow panels; and what follows the multiplication.
struct NeonMatrix {
  const std::byte* panels = nullptr;
  NeonWeights type = NeonWeights::int8;
  int input_width = 0;   // K
  int output_width = 0;  // N
  MatMulEpilogue epilogue = {};
};

// Rows of InputForm::bfloat16 or int8, `input_bytes` from one to the next: K elements, and zeros up to a multiple of
// kNeonRowBytes.
struct NeonRows {
  int count = 0;
  const std::byte* input = nullptr;
  std::size_t input_bytes = 0;
  OutputRows output = {};
};

inline constexpr std::size_t kNeonRowBytes = 8;

// Whether this is an arm64 CPU, all of which run multiply_dots.
bool has_neon();
// Whether it has FEAT_I8MM and FEAT_BF16, and the system says so.
bool has_matrix_products();

// output = activation(value(x W) + bias) (+ residual) of int8 in PanelOrder{narrow, 4}: by SDOT, or where the CPU lacks
// it by products of 16 bits, of which two are added before they are widened. Sums are exact while K <= 66,000.
void multiply_dots(const NeonMatrix& matrix, const NeonRows& rows);

// The same by SMMLA of int8 in PanelOrder{narrow, 8}, and by BFMMLA of bfloat16 in PanelOrder{narrow, 4}: products of
// two rows and two columns. Where has_matrix_products() only.
// BFMMLA is not IEEE arithmetic, though the same on every CPU while FPCR.EBF is 0, as Linux leaves it: the products of
// two neighbours in k are added, then that pair to the output's sum; both additions round to odd, and denormal numbers
// count as zero. The order is that of k whatever the number of rows; the other row of a pair changes nothing.
void multiply_matrices(const NeonMatrix& matrix, const NeonRows& rows);

// "sdot" or "smull": what multiply_dots runs on.
const char* dot_instruction();

}  // namespace encdec::kernels
