#pragma once

#include <cstddef>
#include <string>

#include "encdec/engine/activation.h"

namespace encdec::kernels {

// How many columns lie together in a panel.
enum class PanelColumns : int {
  narrow = 16,  // as in oneDNN's BA16a16b: with six rows of sums beside it a panel fills the registers of AVX2 and NEON
  wide = 64     // as in oneDNN's BA16a64b, the order of its AVX-512 matmul
};

// A matrix [K, N] in panels, each K x columns row-major with K rounded up to 16 and missing columns filled up with
// zeros; and what follows the multiplication.
struct PanelMatrix {
  const float* panels = nullptr;
  const float* bias = nullptr;  // [N], or null
  int input_width = 0;          // K
  int output_width = 0;         // N
  // Partial sums of so many products are added up.
  int chunk = 0;
  PanelColumns columns = PanelColumns::narrow;
  Activation activation = Activation::identity;
};

// Rows to multiply by a matrix. Those of the input follow each other.
struct PanelRows {
  int count = 0;
  const float* input = nullptr;
  const float* residual = nullptr;  // or null
  float* output = nullptr;
  std::ptrdiff_t stride = 0;  // between rows of residual and output
};

// output = activation(x W + bias) (+ residual): x [R, K], output and residual [R, N].
// The output must not overlap what is read: it holds the sums of the chunks so far. Each output is summed over k in one
// order, chunk by chunk, whatever R is and wherever its row stands: a row's bits do not depend on the others. They
// depend on the instruction set: without fused multiply-add products are rounded.
void multiply_panels(const PanelMatrix& matrix, const PanelRows& rows);

// The instruction set that the kernels run on, such as "avx2".
std::string vector_target();

}  // namespace encdec::kernels
