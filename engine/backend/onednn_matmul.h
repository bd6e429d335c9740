#pragma once

#include <cstdint>
#include <string>

#include "encdec/engine/backend/onednn.h"
#include "encdec/engine/base/precision.h"
#include "encdec/engine/kernels/matmul_kernels.h"

namespace encdec::backend {

struct Backend;
class PackedMatrix;

// Returns the backend that multiplies with oneDNN. Weights are in the order that oneDNN wants. Where oneDNN has no fast
// or no exact matmul for a precision, it multiplies rounded numbers as float32.
const Backend& onednn_backend(Precision precision);

// Result of trying whether a row's bits from oneDNN depend on the other rows. Versions of oneDNN and CPUs differ in
// this.
struct RowTrial {
  // From `fewest` to `most` rows, a row gets the same bits for any number of rows and any place among them.
  bool agrees = false;
  // Fewer rows than this are multiplied together with copies. For example, from oneDNN 3.7 on, a single row of more
  // than 1,024 float32 inputs gets other bits than two.
  int fewest = 1;
  // Maximum number of rows that are multiplied together.
  int most = 256;
};

// From this number of outputs on, their number does not matter: versions from 2.6 to 3.12 were tried with up to 32,000
// outputs. With fewer it may: with AMX, oneDNN 2.6 multiplies otherwise if rows x outputs <= 256.
inline constexpr int kManyOutputs = 320;

// Tries a size once for a backend and returns the result. Costs up to 190,000 multiplications per input, so 96 million
// for 512 inputs. Thread-safe. Weights in kRowOrder count as not agreeing and are not tried, because more depends on
// the number of outputs.
RowTrial try_rows(const Backend& backend, int input_width, int output_width);

// Returns a note that lists the widths for which a backend's rows did not agree; empty if there are none.
std::string disagreement(const Backend& backend);

}  // namespace encdec::backend
