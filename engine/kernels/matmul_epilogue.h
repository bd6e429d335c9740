#pragma once

#include <cstddef>
#include <cstdint>

#include "encdec/engine/base/activation.h"

namespace encdec::kernels {

// What follows a multiplication, of each column: y = activation(value of the sum + bias) (+ residual). The value of a
// sum of integers is (sum - offset) * row scale * column scale.
struct MatMulEpilogue {
  const float* bias = nullptr;            // [N], or null
  const float* column_scales = nullptr;   // [N]; of integers alone, as what follows
  const std::int32_t* offsets = nullptr;  // [N], or null for zeros
  Activation activation = Activation::identity;
};

// Rows of the output, from the first column of the matrix on.
struct OutputRows {
  const float* residual = nullptr;  // or null
  float* output = nullptr;          // may be where the sums are, if they are floats
  std::ptrdiff_t stride = 0;        // between rows of both
  const float* row_scales = nullptr;

  // Without the rows before `first`.
  OutputRows from(std::ptrdiff_t first) const {
    return {.residual = residual == nullptr ? nullptr : residual + first * stride,
            .output = output + first * stride,
            .stride = stride,
            .row_scales = row_scales == nullptr ? nullptr : row_scales + first};
  }
};

// A dense block of sums: rows [0, rows) of the output, columns [first_column, first_column + columns).
template <class T>
struct SumsBlock {
  const T* sums = nullptr;
  std::ptrdiff_t stride = 0;  // between rows
  int rows = 0;
  int first_column = 0;
  int columns = 0;
};

void finish_sums(const MatMulEpilogue& epilogue, const SumsBlock<float>& block, const OutputRows& rows);
void finish_sums(const MatMulEpilogue& epilogue, const SumsBlock<std::int32_t>& block, const OutputRows& rows);

}  // namespace encdec::kernels
