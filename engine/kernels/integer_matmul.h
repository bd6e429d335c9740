#pragma once

#include <cstdint>

#include "encdec/engine/kernels/matmul_epilogue.h"
#include "encdec/engine/kernels/panel_order.h"

namespace encdec::kernels {

// A matrix [K, N] of int8 in PanelOrder{narrow, 2}; and what follows the multiplication.
struct IntegerMatrix {
  const std::int8_t* panels = nullptr;
  int input_width = 0;   // K
  int output_width = 0;  // N
  MatMulEpilogue epilogue = {};
};

// Rows of InputForm::int16; `input_stride` values from one to the next, at least K and an even number.
struct IntegerRows {
  int count = 0;
  const std::int16_t* input = nullptr;
  std::ptrdiff_t input_stride = 0;
  OutputRows output = {};
};

// output = activation(value(q W) + bias) (+ residual), for CPUs that have no sums of products of bytes: bytes are
// widened first, so that no intermediate sum saturates. Sums are exact while K <= 66,000.
void multiply_integers(const IntegerMatrix& matrix, const IntegerRows& rows);

}  // namespace encdec::kernels
