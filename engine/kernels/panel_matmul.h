#pragma once

#include <cstddef>
#include <string>

#include "encdec/engine/kernels/matmul_epilogue.h"
#include "encdec/engine/kernels/panel_order.h"

namespace encdec::kernels {

enum class PanelWeights { float32, bfloat16 };

// A matrix [K, N] in PanelOrder, in groups of 1; and what follows the multiplication.
struct PanelMatrix {
  const void* panels = nullptr;
  PanelWeights type = PanelWeights::float32;
  int input_width = 0;   // K
  int output_width = 0;  // N
  // Partial sums of so many products are added up.
  int chunk = 0;
  PanelColumns columns = PanelColumns::narrow;
  MatMulEpilogue epilogue = {};
};

// Rows to multiply by a matrix. Those of the input follow each other.
struct PanelRows {
  int count = 0;
  const float* input = nullptr;
  OutputRows output = {};
};

// output = activation(x W + bias) (+ residual): x [R, K], output and residual [R, N]. Weights of bfloat16 are widened,
// which is exact.
// The output must not overlap what is read: it holds the sums of the chunks so far. Each output is summed over k in one
// order, chunk by chunk, whatever R is and wherever its row stands: a row's bits do not depend on the others. They
// depend on the instruction set: without fused multiply-add products are rounded.
void multiply_panels(const PanelMatrix& matrix, const PanelRows& rows);

// The instruction set that the kernels run on, such as "avx2".
std::string vector_target();

}  // namespace encdec::kernels
