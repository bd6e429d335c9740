#pragma once

#include <cstddef>

#include "encdec/engine/kernels/matmul_epilogue.h"
#include "encdec/engine/kernels/panel_order.h"

namespace encdec::kernels {

// A matrix [K, N] in the panel order that a kernel reads, and the epilogue of the multiplication.
struct PackedPanels {
  const std::byte* panels = nullptr;
  int input_width = 0;                 // K
  int output_width = 0;                // N
  const std::int8_t* steps = nullptr;  // [panels, blocks, columns], for weights of 4 bits
  MatMulEpilogue epilogue = {};
};

// Rows of the input, in the InputForm that a kernel reads, and rows of the output.
struct MatMulRows {
  int count = 0;
  const std::byte* input = nullptr;
  // Bytes from one row to the next: K elements, then zeros up to a multiple of the bytes that the kernel reads at once.
  std::size_t input_bytes = 0;
  OutputRows output = {};

  MatMulRows part(int first, int rows) const {
    return {.count = rows,
            .input = input + static_cast<std::size_t>(first) * input_bytes,
            .input_bytes = input_bytes,
            .output = output.from(first)};
  }
};

// Each kernel below has a file of its own and computes, on the calling thread,
//   output = activation(value(x W) + bias) (+ residual):  x [R, K], output and residual [R, N]
// Each output is summed over k in an order that does not depend on R or on the row. So the bits of a row do not depend
// on the other rows. Kernels with AVX-512 and AMX exist on x86-64 only, Neon kernels on arm64 only.

// Panels that multiply_panels() reads, in groups of 1: how wide they are, and the type of their weights.
enum class PanelForm { narrow_float32, wide_float32, narrow_bfloat16, wide_bfloat16, narrow_float16, wide_float16 };

// Number of products in a partial sum of multiply_panels(); partial sums are added up. A chunk of a narrow float32
// panel is 32 KiB. It stays in the nearest caches while one tile after another uses it, and sums are seldom
// interrupted.
inline constexpr int kPanelChunk = 512;

// Multiplies with the float32 instructions of any CPU.
//   input    InputForm::float32 or rounded_float32
//   weights  float32, bfloat16 or float16; 16 bits are widened, which is exact, so all types give the same bits
// Bits depend on the instruction set: products are rounded if it has no fused multiply-add.
// `widened` is memory for kPanelChunk x kWideColumns floats; null for float32 weights.
// REQUIRES: the output overlaps neither input nor residual, because it holds the sums of the chunks so far.
void multiply_panels(const PackedPanels& matrix, const MatMulRows& rows, PanelForm form, float* widened);
// Returns true if this CPU has instructions that widen float16.
bool widens_float16();

// Multiplies with products of 16 bits, for CPUs that cannot sum products of bytes. Weights are widened first, so that
// no intermediate sum saturates. Sums are exact for K <= 66,000.
//   input    InputForm::int16, read two elements at a time
//   weights  int8 in PanelOrder{narrow, 2}
void multiply_integers(const PackedPanels& matrix, const MatMulRows& rows);

// Multiplies by weights of 4 bits, see quantize_nibbles(), without unpacking them. Sums of int8 products are exact, so
// an int8 kernel gives the same result for the unpacked weights.
//   input    InputForm::int8, read a block at a time
//   weights  codes in PanelOrder{narrow, 4}, two in a byte: a group has 8 inputs, 4 of them in the lower halves
// `shifts` is memory for an integer for each row and block. REQUIRES: has_byte_pairs().
void multiply_nibbles(const PackedPanels& matrix, const MatMulRows& rows, std::int32_t* shifts);
// Returns true if this CPU adds products of bytes in pairs: x86-64 with SSE4.1.
bool has_byte_pairs();

// Multiplies by weights of 4 bits with a kernel of int8, whose weights are in `order`: unpacks one panel after another
// to `panel`, memory for order.panel_elements(K) bytes.
void multiply_unpacked(const PackedPanels& matrix, const MatMulRows& rows, PanelOrder order,
                       void (*kernel)(const PackedPanels&, const MatMulRows&), std::int8_t* panel);

// Multiply with AVX-512. One instruction adds the products of a group of neighbours in k to a sum; groups are added in
// the order of k. With few rows several panels are read side by side; with more rows the next panel is prefetched while
// the current panel is in use. So weights are read as fast as memory delivers them.
//   multiply_bytes           VNNI  InputForm::uint8     int8 weights in PanelOrder{wide, 4}
//   multiply_bfloat16_pairs  BF16  InputForm::bfloat16  bfloat16 weights in PanelOrder{wide, 2}
//   multiply_few_by_nibbles  VNNI  InputForm::uint8     codes in PanelOrder{wide, 4}, as for multiply_nibbles()
// REQUIRES: backend::instruction_sets() has the instructions.
inline constexpr std::size_t kProductsBytes = 4;  // bytes of a row that are read at once
void multiply_bytes(const PackedPanels& matrix, const MatMulRows& rows);
void multiply_bfloat16_pairs(const PackedPanels& matrix, const MatMulRows& rows);
void multiply_few_by_nibbles(const PackedPanels& matrix, const MatMulRows& rows);
inline constexpr int kFewNibbleRows = 8;  // for more, unpacking takes less time

// Multiply with the matrix instructions of AMX, on tiles of 16 rows of 64 bytes.
//   multiply_bfloat16_tiles  InputForm::bfloat16  bfloat16 weights in PanelOrder{wide, 2}
//   multiply_int8_tiles      InputForm::uint8     int8 weights in PanelOrder{wide, 4}
// A few rows of int8 are multiplied by multiply_bytes(): every CPU with AMX has VNNI, both read the same operands, and
// the bits are equal because integer sums are exact.
// REQUIRES: has_matrix_tiles().
inline constexpr std::size_t kTileRowBytes = 64;  // bytes of a row that are read at once
void multiply_bfloat16_tiles(const PackedPanels& matrix, const MatMulRows& rows);
void multiply_int8_tiles(const PackedPanels& matrix, const MatMulRows& rows);

inline constexpr std::size_t kNeonRowBytes = 8;  // bytes of a row that the arm64 kernels read at once

// Multiplies InputForm::int8 by int8 weights in PanelOrder{narrow, 4} with SDOT of arm64. On CPUs without SDOT it adds
// two products in 16 bits before widening them. Sums are exact for K <= 66,000.
void multiply_dots(const PackedPanels& matrix, const MatMulRows& rows);

// Multiply two rows by two columns at a time.
//   multiply_bfloat16_matrices  BFMMLA  InputForm::bfloat16  bfloat16 weights in PanelOrder{narrow, 4}
//   multiply_int8_matrices      SMMLA   InputForm::int8      int8 weights in PanelOrder{narrow, 8}
// REQUIRES: has_matrix_products().
//
// BFMMLA is not IEEE arithmetic, but it is the same on every CPU while FPCR.EBF is 0, as Linux leaves it. It adds the
// products of two neighbours in k, then adds this pair to the output's sum. Both additions round to odd, and denormal
// numbers count as zero. Pairs are added in the order of k for any number of rows, and the two rows do not affect each
// other.
void multiply_bfloat16_matrices(const PackedPanels& matrix, const MatMulRows& rows);
void multiply_int8_matrices(const PackedPanels& matrix, const MatMulRows& rows);
// Returns true if this arm64 CPU has FEAT_I8MM and FEAT_BF16 and the operating system reports them.
bool has_matrix_products();

}  // namespace encdec::kernels
