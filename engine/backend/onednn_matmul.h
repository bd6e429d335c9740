#pragma once

#include <cstdint>
#include <string>

#include "encdec/engine/backend/onednn.h"
#include "encdec/engine/kernels/matmul_kernels.h"

namespace encdec::backend {

struct Backend;
class PackedMatrix;

// Multiplies float32 with oneDNN's packed matmul for AVX-512, for some numbers of rows by kernels::multiply_panels,
// where that gives the same bits.
void multiply_by_onednn(const PackedMatrix& matrix, const kernels::MatMulRows& rows, MatMulPrimitives& primitives);

// A primitive is made for every number of rows that occurs: one for each number up to 32, and pieces of few sizes for
// larger ones. So there are few primitives, and no row is computed in vain.
int onednn_pieces(const PackedMatrix& matrix, std::int64_t remaining, std::int64_t output_width);

// What oneDNN does to a row of `input_width` elements in company: found out by trying, since its versions differ.
struct RowTrial {
  // From two rows on, a row gets the same bits whatever their number and its place.
  bool agrees = false;
  // One row alone gets these bits too. 3.7 and later: not where there are more than 1,024 inputs.
  bool one_row_agrees = false;
  // kernels::multiply_panels gives these bits if it sums in such chunks; 0 if in none.
  int chunk = 0;
};

// Tries once for each width, in about ten million multiplications; thread-safe. For a backend that oneDNN has a packed
// matmul for. How many outputs a matrix has does not matter: versions from 2.6 to 3.12 have been tried with 64 to
// 32,000.
RowTrial try_rows(const Backend& backend, int input_width);

// In which widths oneDNN did not agree with itself, so that our own kernels multiply; empty if there was none.
std::string disagreements();

}  // namespace encdec::backend
