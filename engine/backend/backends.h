#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "encdec/engine/backend/onednn_matmul.h"
#include "encdec/engine/base/precision.h"
#include "encdec/engine/kernels/matmul_kernels.h"
#include "encdec/engine/kernels/quantization.h"

namespace encdec::backend {

// Returns the number of rows in the next piece, if `remaining` rows are cut into equal pieces of at most 128 rows. The
// input of such a piece stays in the second-level cache.
int equal_pieces(const PackedMatrix& matrix, std::int64_t remaining, std::int64_t output_width);

// A way to multiply matrices in one precision: oneDNN's packed matmul for AVX-512 (float32), or one of our own kernels.
struct Backend {
  std::string_view name;
  Precision precision = Precision::float32;
  // Returns true if this CPU has the instructions.
  bool (*can_run)() = nullptr;
  kernels::PanelOrder panel_order = {};  // order of the packed weights
  // Form of the input's rows, and the number of bytes that are read at once. Each row is padded with zeros to a
  // multiple of these bytes.
  kernels::InputForm input = kernels::InputForm::float32;
  std::size_t input_unit = 1;
  // Multiplies on the calling thread alone. A row's result does not depend on the number of rows. Throws BackendError.
  void (*multiply)(const PackedMatrix& matrix, const kernels::MatMulRows& rows, MatMulPrimitives& primitives) = nullptr;
  // Returns how many of the remaining rows to multiply at once. `matrix` is one slice of a product that has
  // `output_width` outputs in all.
  int (*piece_rows)(const PackedMatrix& matrix, std::int64_t remaining, std::int64_t output_width) = equal_pieces;
  // Tries whether a row's result depends on the number of rows. Null if no trial is needed.
  RowTrial (*trial)(const Backend& backend, int input_width) = nullptr;
};

// Returns the best backend that runs on this CPU.
const Backend& best_backend(Precision precision);

// Returns the best backend that runs on this CPU and whose trial, if it has one, agrees for `input_width`. One backend
// is used for any number of rows and outputs, so no row's bits depend on the other rows.
const Backend& backend_for(Precision precision, int input_width);

// Returns false if the best backend of a precision rounds its inputs to that precision but multiplies in float32.
bool multiplies_in(Precision precision);

}  // namespace encdec::backend
