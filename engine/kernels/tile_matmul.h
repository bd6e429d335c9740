#pragma once

#include <cstddef>
#include <cstdint>

#include "encdec/engine/kernels/matmul_epilogue.h"
#include "encdec/engine/kernels/panel_order.h"

namespace encdec::kernels {

enum class TileWeights { bfloat16, int8 };

// A matrix [K, N] in PanelOrder{wide, 2} of bfloat16 or PanelOrder{wide, 4} of int8; and what follows the
// multiplication.
struct TileMatrix {
  const std::byte* panels = nullptr;
  TileWeights type = TileWeights::int8;
  int input_width = 0;   // K
  int output_width = 0;  // N
  MatMulEpilogue epilogue = {};
};

// Rows of InputForm::bfloat16 or uint8, `input_bytes` from one to the next: K elements, and zeros up to a multiple of
// kTileRowBytes.
struct TileRows {
  int count = 0;
  const std::byte* input = nullptr;
  std::size_t input_bytes = 0;
  OutputRows output = {};
};

inline constexpr std::size_t kTileRowBytes = 64;

// Whether this CPU has the instructions and the system lets this process use them.
bool has_tiles();

// output = activation(value(x W) + bias) (+ residual) with the matrix instructions of AMX: registers of 16 rows of 64
// bytes. Where has_tiles() only. Each output is summed over k in one order whatever the number of rows.
void multiply_tiles(const TileMatrix& matrix, const TileRows& rows);

}  // namespace encdec::kernels
