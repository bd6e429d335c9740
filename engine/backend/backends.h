#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "encdec/engine/backend/onednn_matmul.h"
#include "encdec/engine/base/precision.h"
#include "encdec/engine/kernels/matmul_kernels.h"
#include "encdec/engine/kernels/quantization.h"

namespace encdec::backend {

// Any number of rows as equal pieces, whose input stays in the second-level cache.
int equal_pieces(const PackedMatrix& matrix, std::int64_t remaining, std::int64_t output_width);

// What multiplies matrices in one precision: oneDNN's packed matmul for AVX-512 in float32, or a kernel of ours.
struct Backend {
  std::string_view name;
  Precision precision = Precision::float32;
  // Whether this CPU has the instructions.
  bool (*runs)() = nullptr;
  kernels::PanelOrder weights = {};
  // The form of rows of inputs, and the bytes of them that are read at once: what a row does not fill is zero.
  kernels::InputForm input = kernels::InputForm::float32;
  std::size_t input_unit = 1;
  // On the calling thread alone. A row's result does not depend on how many there are. Throws BackendError.
  void (*multiply)(const PackedMatrix& matrix, const kernels::MatMulRows& rows, MatMulPrimitives& primitives) = nullptr;
  // How many of the remaining rows to multiply at once, by a matrix that gives a slice of outputs of this width.
  int (*piece_rows)(const PackedMatrix& matrix, std::int64_t remaining, std::int64_t output_width) = equal_pieces;
  // Whether a row's result does not depend on how many there are, where that has to be tried. Null where it is known.
  RowTrial (*trial)(const Backend& backend, int input_width) = nullptr;
};

// The best of all that run here.
const Backend& best_backend(Precision precision);

// The best that also keeps its promise on rows of `input_width`. However many rows and outputs there are, one backend:
// no row's bits depend on its neighbours.
const Backend& backend_for(Precision precision, int input_width);

// Whether the CPU has instructions of its own for a precision.
bool multiplies_in(Precision precision);

}  // namespace encdec::backend
