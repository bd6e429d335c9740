#pragma once

#include <cstdint>
#include <string>

#include "encdec/engine/backend/onednn.h"
#include "encdec/engine/base/precision.h"
#include "encdec/engine/kernels/matmul_kernels.h"

namespace encdec::backend {

struct Backend;
class PackedMatrix;

// Returns the oneDNN backend. If oneDNN has no fast and exact matmul for a precision, the backend
// multiplies rounded numbers as float32.
const Backend& onednn_backend(Precision precision);

// Result of testing whether a row's result from oneDNN depends on the other rows. This differs
// between versions of oneDNN and between CPUs.
struct RowTrial {
  // True if a row's result is bitwise identical at any position in a block of `fewest` to `most` rows.
  bool agrees = false;
  // Fewer rows are multiplied together with copies of a row. Example: since oneDNN 3.7, one row of more than 1,024
  // float32 inputs gets a different result than two rows.
  int fewest = 1;
  int most = 256;  // more rows are split into blocks
};

// With at least this many outputs, the number of outputs does not change a row's result (tested with oneDNN 2.6 to 3.12
// and up to 32,000 outputs). With fewer outputs, it may: with AMX, oneDNN 2.6 uses another algorithm if rows x outputs
// <= 256.
inline constexpr int kManyOutputs = 320;

// Tests each size once per backend. A test takes up to 190,000 multiplications per input: 96 million for 512 inputs.
// Thread-safe. Reports kRowOrder as dependent without a test, because its results also depend on the number of outputs.
RowTrial try_rows(const Backend& backend, int input_width, int output_width);

// Returns a note with the input widths for which a row's result depends on the other rows; may be empty.
std::string disagreement(const Backend& backend);

}  // namespace encdec::backend
