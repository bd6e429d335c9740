#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "encdec/engine/base/activation.h"

namespace encdec::kernels {

// The last step of a matmul, for each column: y = activation(value + bias) (+ residual).
//   value = sum                                         for sums of floats
//   value = (sum - offset) * row scale * column scale   for sums of integers
struct MatMulEpilogue {
  const float* bias = nullptr;            // [N], or null
  const float* column_scales = nullptr;   // [N], for sums of integers
  const std::int32_t* offsets = nullptr;  // [N], for sums of integers; null for zeros
  Activation activation = Activation::identity;
};

// Rows of the output. The pointers are to the first column that this packed matrix computes, which may be a slice of
// the layer's columns.
struct OutputRows {
  const float* residual = nullptr;    // or null
  float* output = nullptr;            // may be the address of the sums if they are floats
  std::ptrdiff_t stride = 0;          // elements between neighbouring rows of `residual` and of `output`
  const float* row_scales = nullptr;  // for sums of integers; null for scales of 1

  float row_scale(int row) const { return row_scales == nullptr ? 1.0f : row_scales[row]; }
  // Returns the rows from `first` on.
  OutputRows from(std::ptrdiff_t first) const {
    return {.residual = residual == nullptr ? nullptr : residual + first * stride,
            .output = output + first * stride,
            .stride = stride,
            .row_scales = row_scales == nullptr ? nullptr : row_scales + first};
  }
};

// A block of sums: rows [0, rows) and columns [first_column, first_column + columns) of the output.
template <class T>
struct SumsBlock {
  const T* sums = nullptr;
  std::ptrdiff_t stride = 0;  // elements between neighbouring rows
  int rows = 0;
  int first_column = 0;
  int columns = 0;
};

// Computes a block of the output from a block of sums.
void finish_sums(const MatMulEpilogue& epilogue, const SumsBlock<float>& block, const OutputRows& rows);
void finish_sums(const MatMulEpilogue& epilogue, const SumsBlock<std::int32_t>& block, const OutputRows& rows);

// Returns the instruction set on which the vector kernels run, such as "avx2".
std::string vector_target();

}  // namespace encdec::kernels
