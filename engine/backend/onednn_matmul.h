#pragma once

#include <cstdint>
#include <string>

#include "encdec/engine/backend/onednn.h"
#include "encdec/engine/kernels/matmul_kernels.h"

namespace encdec::backend {

struct Backend;
class PackedMatrix;

// Multiplies float32 with oneDNN's packed matmul for AVX-512. For some numbers of rows kernels::multiply_panels() is
// faster; it is used for them if it gives the same bits.
void multiply_by_onednn(const PackedMatrix& matrix, const kernels::MatMulRows& rows, MatMulPrimitives& primitives);

// Returns the number of rows in the next piece: all remaining rows if there are at most 32, otherwise 256, 128, 64 or
// 32. A oneDNN primitive is for one number of rows. With these sizes few primitives are needed, and no row is padding.
int onednn_pieces(const PackedMatrix& matrix, std::int64_t remaining, std::int64_t output_width);

// Result of trying whether a row's bits from oneDNN depend on the other rows. Versions of oneDNN differ in this.
struct RowTrial {
  // From two rows on, a row gets the same bits for any number of rows and any place among them.
  bool agrees = false;
  // A single row gets the same bits too. From oneDNN 3.7 on it does not if there are more than 1,024 inputs.
  bool one_row_agrees = false;
  // PanelSums::chunk with which kernels::multiply_panels() gives the same bits; 0 if there is none.
  int chunk = 0;
};

// Tries a width once and returns the result. Costs about 113,000 multiplications per input, so 58 million for 512
// inputs. Thread-safe. The number of outputs does not matter: versions from 2.6 to 3.12 were tried with 64 to 32,000
// outputs.
// REQUIRES: oneDNN has a packed matmul for the backend.
RowTrial try_rows(const Backend& backend, int input_width);

// Returns a note that lists the widths for which oneDNN did not agree, so that our own kernels multiply; empty if there
// are none.
std::string disagreements();

}  // namespace encdec::backend
