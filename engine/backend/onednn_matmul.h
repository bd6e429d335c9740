#pragma once

#include "encdec/engine/backend/backends.h"

namespace encdec::backend {

// Multiplies with oneDNN's packed matmul for AVX-512: float32, for some numbers of rows by kernels::multiply_panels,
// where that gives the same bits, and bfloat16.
void multiply_by_onednn(const PackedMatrix& matrix, const kernels::MatMulRows& rows, MatMulPrimitives& primitives);
void multiply_integers_by_onednn(const PackedMatrix& matrix, const kernels::MatMulRows& rows,
                                 MatMulPrimitives& primitives);

// A primitive is made for every number of rows that occurs: one for each number up to 32, and pieces of few sizes for
// larger ones. So there are few primitives, and no row is computed in vain.
int onednn_pieces(const PackedMatrix& matrix, std::int64_t remaining, std::int64_t output_width);

// Sums of integers need a dense tile however few rows there are.
inline constexpr int kWidestOneDnnIntegers = 4096;

}  // namespace encdec::backend
