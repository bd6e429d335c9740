#pragma once

#include <cstddef>

#include "encdec/engine/kernels/matmul_epilogue.h"
#include "encdec/engine/kernels/panel_order.h"

namespace encdec::kernels {

// A matrix [K, N] in a kernel's panel order, and its epilogue.
struct PackedPanels {
  const std::byte* panels = nullptr;
  int input_width = 0;                 // K
  int output_width = 0;                // N
  const std::int8_t* steps = nullptr;  // [panels, blocks, columns], for 4-bit weights
  MatMulEpilogue epilogue = {};
};

// Rows of the input, in a kernel's InputForm, and rows of the output.
struct MatMulRows {
  int count = 0;
  const std::byte* input = nullptr;
  // Bytes from one row to the next: K elements, padded with zeros to whole units that the kernel reads at once.
  std::size_t input_bytes = 0;
  OutputRows output = {};

  MatMulRows part(int first, int rows) const {
    return {.count = rows,
            .input = input + static_cast<std::size_t>(first) * input_bytes,
            .input_bytes = input_bytes,
            .output = output.from(first)};
  }
};

// Each kernel below computes, on the calling thread,
//   output = activation(value(x W) + bias) (+ residual):  x [R, K], output and residual [R, N]
// It adds products over k in an order that depends neither on R nor on the row, so a row's result
// does not depend on the other rows. AVX-512 and AMX kernels need x86-64, Neon kernels arm64.

// Width and weight type of the panels of multiply_panels(), whose groups have 1 row.
enum class PanelForm { narrow_float32, wide_float32, narrow_bfloat16, wide_bfloat16, narrow_float16, wide_float16 };

// Inputs per chunk in multiply_panels(), which adds up the results of chunks. A chunk of a narrow float32 panel has 32
// KiB, so it stays cached for all tiles, and accumulators are seldom written to memory.
inline constexpr int kPanelChunk = 512;

// Multiplies with the float32 instructions of any CPU.
//   input    InputForm::float32 or rounded_float32
//   weights  float32, bfloat16 or float16; widening 16 bits is exact
// Results depend on the instruction set, which may lack a fused multiply-add.
// `widened` is memory for kPanelChunk x kWideColumns floats; null for float32 weights.
// REQUIRES: the output overlaps neither input nor residual, because it accumulates the chunks.
void multiply_panels(const PackedPanels& matrix, const MatMulRows& rows, PanelForm form, float* widened);
bool widens_float16();  // true if this CPU can widen float16

// Multiplies 16-bit integers, for CPUs without dot products of bytes. Weights are widened first, so
// that no intermediate result saturates. Exact for K <= 66,000.
//   input    InputForm::int16, read two elements at a time
//   weights  int8 in PanelOrder{narrow, 2}
void multiply_integers(const PackedPanels& matrix, const MatMulRows& rows);

// Multiplies by 4-bit weights (see quantize_nibbles()) without unpacking them. Accumulators are
// exact, so int8 kernels give equal results for the unpacked weights.
//   input    InputForm::int8, read a block at a time
//   weights  codes in PanelOrder{narrow, 4}, two per byte: lower halves for 4 inputs, upper for 4
// `shifts` is memory for an integer per row and block. REQUIRES: has_byte_pairs().
void multiply_nibbles(const PackedPanels& matrix, const MatMulRows& rows, std::int32_t* shifts);
bool has_byte_pairs();  // true on x86-64 with SSE4.1

// Multiplies by 4-bit weights with an int8 kernel for weights in `order`. Unpacks one panel after
// another to `panel`, which has order.panel_elements(K) bytes.
void multiply_unpacked(const PackedPanels& matrix, const MatMulRows& rows, PanelOrder order,
                       void (*kernel)(const PackedPanels&, const MatMulRows&), std::int8_t* panel);

// Multiply with AVX-512. One instruction adds the dot product of a group of inputs; groups are added in the order of k.
// With few rows, several panels are read together; with more rows, the next panel is prefetched. So weights are read at
// the speed of memory.
//   multiply_bytes           VNNI  InputForm::uint8     int8 weights in PanelOrder{wide, 4}
//   multiply_bfloat16_pairs  BF16  InputForm::bfloat16  bfloat16 weights in PanelOrder{wide, 2}
//   multiply_few_by_nibbles  VNNI  InputForm::uint8     codes, two per byte, in PanelOrder{wide, 4}
// REQUIRES: backend::instruction_sets() has the instructions.
inline constexpr std::size_t kProductsBytes = 4;  // bytes of a row read at once
void multiply_bytes(const PackedPanels& matrix, const MatMulRows& rows);
void multiply_bfloat16_pairs(const PackedPanels& matrix, const MatMulRows& rows);
void multiply_few_by_nibbles(const PackedPanels& matrix, const MatMulRows& rows);
inline constexpr int kFewNibbleRows = 8;  // with more rows, unpacking is faster

// Multiply with AMX, on tiles of 16 rows of 64 bytes.
//   multiply_bfloat16_tiles  InputForm::bfloat16  bfloat16 weights in PanelOrder{wide, 2}
//   multiply_int8_tiles      InputForm::uint8     int8 weights in PanelOrder{wide, 4}
// A few rows of int8 use multiply_bytes(): CPUs with AMX have VNNI, the operands are the same, and
// so are the exact results. REQUIRES: has_matrix_tiles().
inline constexpr std::size_t kTileRowBytes = 64;  // bytes of a row read at once
void multiply_bfloat16_tiles(const PackedPanels& matrix, const MatMulRows& rows);
void multiply_int8_tiles(const PackedPanels& matrix, const MatMulRows& rows);

inline constexpr std::size_t kNeonRowBytes = 8;  // bytes of a row that arm64 kernels read at once

// Multiplies InputForm::int8 by int8 weights in PanelOrder{narrow, 4} with arm64's SDOT. Without
// SDOT it adds pairs of products in 16 bits, then widens. Exact for K <= 66,000.
void multiply_dots(const PackedPanels& matrix, const MatMulRows& rows);

// Multiply two rows by two columns at a time.
//   multiply_bfloat16_matrices  BFMMLA  InputForm::bfloat16  bfloat16 in PanelOrder{narrow, 4}
//   multiply_int8_matrices      SMMLA   InputForm::int8      int8 in PanelOrder{narrow, 8}
// BFMMLA is not IEEE arithmetic, but it is the same on all CPUs while FPCR.EBF is 0, which is the setting of Linux. The
// instruction adds the products of two neighbours in k, then adds this pair to the accumulator. Both additions round to
// odd, and denormal numbers are treated as zero. Pairs are added in the order of k for any number of rows, and the two
// rows are independent. REQUIRES: has_matrix_products().
void multiply_bfloat16_matrices(const PackedPanels& matrix, const MatMulRows& rows);
void multiply_int8_matrices(const PackedPanels& matrix, const MatMulRows& rows);
// Returns true if the operating system reports FEAT_I8MM and FEAT_BF16.
bool has_matrix_products();

}  // namespace encdec::kernels
