#pragma once

#include <cstddef>
#include <cstdint>

#include "encdec/engine/kernels/matmul_epilogue.h"
#include "encdec/engine/kernels/panel_order.h"

namespace encdec::kernels {

// A matrix [K, N] of int8 in PanelOrder{wide, 4}; and what follows the multiplication.
struct VnniMatrix {
  const std::int8_t* panels = nullptr;
  int input_width = 0;   // K
  int output_width = 0;  // N
  MatMulEpilogue epilogue = {};
};

// Rows of InputForm::uint8, `input_bytes` from one to the next.
struct VnniRows {
  int count = 0;
  const std::uint8_t* input = nullptr;
  std::size_t input_bytes = 0;
  OutputRows output = {};
};

// More rows than that are for others.
inline constexpr int kMostVnniRows = 4;

// output = activation(value(x W) + bias) (+ residual) for a few rows, with AVX-512 VNNI: reads weights from memory as
// fast as it gives them, several panels side by side. Where backend::instruction_sets() has VNNI only.
void multiply_few_rows(const VnniMatrix& matrix, const VnniRows& rows);

}  // namespace encdec::kernels
