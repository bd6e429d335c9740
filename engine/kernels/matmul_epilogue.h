#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "encdec/engine/base/activation.h"

namespace encdec::kernels {

// The last step of a matmul, per column: y = activation(value + bias) (+ residual).
//   value = sum                                        for float accumulators
//   value = (sum - offset) * row_scale * column_scale  for integer accumulators
struct MatMulEpilogue {
  const float* bias = nullptr;            // [N], or null
  const float* column_scales = nullptr;   // [N], for integers
  const std::int32_t* offsets = nullptr;  // [N], for integers; null for zeros
  Activation activation = Activation::identity;
};

// Rows of the output. The pointers address the first column of this packed matrix, which may be one
// slice of a larger output.
struct OutputRows {
  const float* residual = nullptr;    // or null
  float* output = nullptr;            // may be the float accumulators
  std::ptrdiff_t stride = 0;          // between rows of `residual` and of `output`
  const float* row_scales = nullptr;  // for integers; null for scales of 1

  float row_scale(int row) const { return row_scales == nullptr ? 1.0f : row_scales[row]; }
  // Returns the rows from `first` on.
  OutputRows from(std::ptrdiff_t first) const {
    return {.residual = residual == nullptr ? nullptr : residual + first * stride,
            .output = output + first * stride,
            .stride = stride,
            .row_scales = row_scales == nullptr ? nullptr : row_scales + first};
  }
};

// A block of accumulators: rows [0, rows) and columns [first_column, first_column + columns).
template <class T>
struct AccumulatorBlock {
  const T* sums = nullptr;
  std::ptrdiff_t stride = 0;  // between rows
  int rows = 0;
  int first_column = 0;
  int columns = 0;
};

// Applies the epilogue to a block of accumulators.
void finish_accumulators(const MatMulEpilogue& epilogue, const AccumulatorBlock<float>& block, const OutputRows& rows);
void finish_accumulators(const MatMulEpilogue& epilogue, const AccumulatorBlock<std::int32_t>& block,
                         const OutputRows& rows);

// Returns the instruction set of the vector kernels, such as "avx2".
std::string vector_target();

}  // namespace encdec::kernels
