#pragma once

namespace encdec::kernels {

// A matrix [K, N] in the order of oneDNN's BA16a64b: panels of 64 columns, each K x 64 row-major with K rounded up to
// 16 and missing columns filled up.
struct PanelMatrix {
  static constexpr int kPanelColumns = 64;

  const float* panels = nullptr;
  int input_width = 0;   // K
  int output_width = 0;  // N
  // Partial sums of so many products are added up: the order of oneDNN's matmul, so that the bits are the same.
  int chunk = 0;
};

// output = x W (+ bias) (+ residual) for one row: x [K], output, bias and residual [N]; bias and residual may be null.
// One row uses each weight once, so this is bound by memory. It reads several panels side by side and asks for weights
// ahead of their use, which oneDNN 2.6 does not: about 1.5 times as fast where they come from beyond the core's caches.
void multiply_row(const PanelMatrix& matrix, const float* input, const float* bias, const float* residual,
                  float* output);

}  // namespace encdec::kernels
