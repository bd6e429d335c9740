#pragma once

#include <cstddef>
#include <string>

#include "encdec/engine/kernels/matmul_epilogue.h"
#include "encdec/engine/kernels/panel_order.h"

namespace encdec::kernels {

// A matrix [K, N] in the order of panels that a kernel takes, and what follows the multiplication.
struct PackedPanels {
  const std::byte* panels = nullptr;
  int input_width = 0;   // K
  int output_width = 0;  // N
  MatMulEpilogue epilogue = {};
};

// Rows to multiply, in the InputForm that a kernel takes, and where the products go.
struct MatMulRows {
  int count = 0;
  const std::byte* input = nullptr;
  // From one row to the next: K elements, and zeros up to a multiple of what the kernel reads at once.
  std::size_t input_bytes = 0;
  OutputRows output = {};

  MatMulRows part(int first, int rows) const {
    return {.count = rows,
            .input = input + static_cast<std::size_t>(first) * input_bytes,
            .input_bytes = input_bytes,
            .output = output.from(first)};
  }
};

// Each kernel, in a file of its own, computes
//   output = activation(value(x W) + bias) (+ residual):  x [R, K], output and residual [R, N]
// on the calling thread. Each output is summed over k in one order whatever R is and wherever its row stands: a row's
// bits do not depend on the others.

// How multiply_panels sums.
struct PanelSums {
  enum class Weights { float32, bfloat16 };

  Weights weights = Weights::float32;
  PanelColumns columns = PanelColumns::narrow;
  // Partial sums of so many products are added up. 32 KiB of a panel stay in the nearest caches while one tile after
  // the other uses them, and few enough sums are interrupted.
  int chunk = 512;
};

// By the float32 instructions of any CPU, of InputForm::float32 or rounded_float32 and panels in groups of 1. Weights
// of bfloat16 are widened, which is exact. The output must not overlap what is read: it holds the sums of the chunks so
// far. Bits depend on the instruction set: without fused multiply-add products are rounded.
void multiply_panels(const PackedPanels& matrix, const MatMulRows& rows, const PanelSums& sums);

// By products of 16 bits, of InputForm::int16 and int8 in PanelOrder{narrow, 2}, for CPUs that have no sums of products
// of bytes: bytes are widened first, so that no intermediate sum saturates. Reads two inputs at once. Sums are exact
// while K <= 66,000.
void multiply_integers(const PackedPanels& matrix, const MatMulRows& rows);

// By AVX-512 VNNI, of InputForm::uint8 and int8 in PanelOrder{wide, 4}, and by AVX-512 BF16, of InputForm::bfloat16 and
// bfloat16 in PanelOrder{wide, 2}: products of so many neighbours in k are added to a sum at once, in the order of k.
// Weights are read from memory as fast as it gives them: of few rows several panels side by side, of more the next
// panel while this one is in use. Where backend::instruction_sets() has them only.
inline constexpr std::size_t kProductsBytes = 4;
void multiply_bytes(const PackedPanels& matrix, const MatMulRows& rows);
void multiply_bfloat16_pairs(const PackedPanels& matrix, const MatMulRows& rows);

// By the matrix instructions of AMX, registers of 16 rows of 64 bytes: of InputForm::bfloat16 and bfloat16 in
// PanelOrder{wide, 2}, or of InputForm::uint8 and int8 in PanelOrder{wide, 4}. Where has_tiles() only.
inline constexpr std::size_t kTileRowBytes = 64;
void multiply_bfloat16_tiles(const PackedPanels& matrix, const MatMulRows& rows);
void multiply_int8_tiles(const PackedPanels& matrix, const MatMulRows& rows);
// Whether this CPU has the instructions and the system lets this process use them.
bool has_tiles();

inline constexpr std::size_t kNeonRowBytes = 8;

// By SDOT of arm64, of InputForm::int8 and int8 in PanelOrder{narrow, 4}, or where the CPU lacks it by products of 16
// bits, of which two are added before they are widened. Sums are exact while K <= 66,000. Where has_neon() only.
void multiply_dots(const PackedPanels& matrix, const MatMulRows& rows);
// Whether this is an arm64 CPU.
bool has_neon();

// By BFMMLA, of InputForm::bfloat16 and bfloat16 in PanelOrder{narrow, 4}, and by SMMLA, of InputForm::int8 and int8 in
// PanelOrder{narrow, 8}: products of two rows and two columns. Where has_matrix_products() only.
// BFMMLA is not IEEE arithmetic, though the same on every CPU while FPCR.EBF is 0, as Linux leaves it: the products of
// two neighbours in k are added, then that pair to the output's sum; both additions round to odd, and denormal numbers
// count as zero. The order is that of k whatever the number of rows; the other row of a pair changes nothing.
void multiply_bfloat16_matrices(const PackedPanels& matrix, const MatMulRows& rows);
void multiply_int8_matrices(const PackedPanels& matrix, const MatMulRows& rows);
// Whether this arm64 CPU has FEAT_I8MM and FEAT_BF16, and the system says so.
bool has_matrix_products();

// The instruction set that the vector kernels run on, such as "avx2".
std::string vector_target();

}  // namespace encdec::kernels
