#include <algorithm>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "encdec/engine/kernels/matmul_kernels.h"
#include "encdec/engine/kernels/row_tiles.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#if defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif
#endif

namespace encdec::kernels {

#if defined(__aarch64__)

// gcc needs an architecture and its extensions, clang 19 only extensions. In clang 14, arm_neon.h lacks the intrinsics.
#if defined(__clang__)
#define ENCDEC_DOTS __attribute__((target("dotprod")))
#define ENCDEC_MATRICES __attribute__((target("i8mm,bf16")))
#else
#define ENCDEC_DOTS __attribute__((target("arch=armv8.2-a+dotprod")))
#define ENCDEC_MATRICES __attribute__((target("arch=armv8.2-a+i8mm+bf16")))
#endif

namespace {

constexpr int kPanelWidth = kNarrowColumns;
constexpr std::ptrdiff_t kRowStep = kNeonRowBytes;
constexpr std::ptrdiff_t kPanelStep = kRowStep * kPanelWidth;
constexpr std::ptrdiff_t kBytesAhead = 1024;  // prefetch distance

// A few rows of the input, and a few neighbouring panels of weights.
struct Operands {
  const std::byte* panel;
  std::ptrdiff_t panel_bytes;
  const std::byte* input;
  std::ptrdiff_t input_bytes;

  const std::int8_t* row(int index, std::ptrdiff_t byte) const {
    return reinterpret_cast<const std::int8_t*>(input + index * input_bytes + byte);
  }
  // Returns the weights in panel `index` for bytes [byte, byte + kRowStep) of a row. Prefetches later weights.
  const std::int8_t* weights(int index, std::ptrdiff_t byte) const {
    const std::byte* from = panel + index * panel_bytes + byte * kPanelWidth;
    for (std::ptrdiff_t line = 0; line < kPanelStep; line += 64) __builtin_prefetch(from + kBytesAhead + line);
    return reinterpret_cast<const std::int8_t*>(from);
  }
};

// Returns four bytes of a row, repeated four times.
inline int8x16_t four_at(const std::int8_t* input) {
  std::int32_t four;
  std::memcpy(&four, input, sizeof(four));
  return vreinterpretq_s8_s32(vdupq_n_s32(four));
}

// Each struct below has a function sum_products(), which computes sums[r][c] = <row r, column c of kPanels panels>. It
// uses 16 to 24 of the 32 registers as accumulators, because compilers do not keep more accumulators in registers.

struct Sdot {
  using Sum = std::int32_t;
  static constexpr int kGroup = 4;  // PanelOrder::group
  static constexpr int kMaxRows = 6;
  static constexpr int panels_for(int rows) { return std::clamp(6 / rows, 1, 4); }

  template <int kRows, int kPanels>
  ENCDEC_DOTS static void sum_products(const Operands& operands, Sum* sums) {
    constexpr int kVectors = 4 * kPanels;  // vectors of four columns
    int32x4_t totals[kRows][kVectors];
    for (auto& row : totals) std::fill(std::begin(row), std::end(row), vdupq_n_s32(0));
    for (std::ptrdiff_t byte = 0; byte < operands.input_bytes; byte += kRowStep) {
      int8x8_t x[kRows];
      for (int r = 0; r < kRows; ++r) x[r] = vld1_s8(operands.row(r, byte));
      for (int p = 0; p < kPanels; ++p) {
        const std::int8_t* from = operands.weights(p, byte);
        for (int v = 0; v < 4; ++v) {
          const int8x16_t first = vld1q_s8(from + 16 * v), second = vld1q_s8(from + 16 * v + 64);
          for (int r = 0; r < kRows; ++r) {
            int32x4_t& total = totals[r][4 * p + v];
            total = vdotq_lane_s32(vdotq_lane_s32(total, first, x[r], 0), second, x[r], 1);
          }
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v) vst1q_s32(sums + (r * kVectors + v) * 4, totals[r][v]);
    }
  }
};

// Uses the same panels as Sdot, on CPUs without SDOT. A sum of two products, each at most 127 * 127, fits 16 bits.
struct Smull {
  using Sum = std::int32_t;
  static constexpr int kGroup = 4;
  static constexpr int kMaxRows = 2;
  static constexpr int panels_for(int rows) { return kMaxRows / rows; }

  template <int kRows, int kPanels>
  static void sum_products(const Operands& operands, Sum* sums) {
    constexpr int kVectors = 4 * kPanels;
    // Each vector holds two partial sums for each of two columns.
    int32x4_t low[kRows][kVectors], high[kRows][kVectors];
    for (auto& row : low) std::fill(std::begin(row), std::end(row), vdupq_n_s32(0));
    for (auto& row : high) std::fill(std::begin(row), std::end(row), vdupq_n_s32(0));
    for (std::ptrdiff_t byte = 0; byte < operands.input_bytes; byte += kRowStep) {
      int8x16_t x[kRows], y[kRows];
      for (int r = 0; r < kRows; ++r) x[r] = four_at(operands.row(r, byte)), y[r] = four_at(operands.row(r, byte + 4));
      for (int p = 0; p < kPanels; ++p) {
        const std::int8_t* from = operands.weights(p, byte);
        for (int v = 0; v < 4; ++v) {
          const int8x16_t first = vld1q_s8(from + 16 * v), second = vld1q_s8(from + 16 * v + 64);
          for (int r = 0; r < kRows; ++r) {
            const int16x8_t lower = vmull_s8(vget_low_s8(first), vget_low_s8(x[r]));
            const int16x8_t upper = vmull_high_s8(first, x[r]);
            int32x4_t &left = low[r][4 * p + v], &right = high[r][4 * p + v];
            left = vpadalq_s16(left, vmlal_s8(lower, vget_low_s8(second), vget_low_s8(y[r])));
            right = vpadalq_s16(right, vmlal_high_s8(upper, second, y[r]));
          }
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v) vst1q_s32(sums + (r * kVectors + v) * 4, vpaddq_s32(low[r][v], high[r][v]));
    }
  }
};

ENCDEC_MATRICES inline int32x4_t add_products(int32x4_t sums, int8x16_t rows, int8x16_t columns) {
  return vmmlaq_s32(sums, rows, columns);
}
ENCDEC_MATRICES inline float32x4_t add_products(float32x4_t sums, int8x16_t rows, int8x16_t columns) {
  return vbfmmlaq_f32(sums, vreinterpretq_bf16_s8(rows), vreinterpretq_bf16_s8(columns));
}

// Multiplies two rows by two columns at a time. An accumulator holds two columns of one row, then
// the same columns of the other row.
template <class Vector, class Element>
struct MatrixProducts {
  using Sum = Element;
  static constexpr int kGroup = std::is_same_v<Element, float> ? 4 : 8;
  static constexpr int kMaxRows = 4;
  static constexpr int panels_for(int rows) { return rows <= 2 ? 2 : 1; }

  template <int kRows, int kPanels>
  ENCDEC_MATRICES static void sum_products(const Operands& operands, Sum* sums) {
    constexpr int kPairs = (kRows + 1) / 2;
    constexpr int kVectors = 8 * kPanels;
    Vector totals[kPairs][kVectors];
    for (auto& pair : totals) std::fill(std::begin(pair), std::end(pair), Vector{});
    for (std::ptrdiff_t byte = 0; byte < operands.input_bytes; byte += kRowStep) {
      int8x16_t rows[kPairs];
      for (int pair = 0; pair < kPairs; ++pair) {
        // If the last row has no partner, multiply the row twice.
        rows[pair] = vcombine_s8(vld1_s8(operands.row(2 * pair, byte)),
                                 vld1_s8(operands.row(std::min(2 * pair + 1, kRows - 1), byte)));
      }
      for (int p = 0; p < kPanels; ++p) {
        const std::int8_t* from = operands.weights(p, byte);
        for (int v = 0; v < 8; ++v) {
          const int8x16_t columns = vld1q_s8(from + 16 * v);
          for (int pair = 0; pair < kPairs; ++pair) {
            totals[pair][8 * p + v] = add_products(totals[pair][8 * p + v], rows[pair], columns);
          }
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v) {
        std::memcpy(sums + (r * kVectors + v) * 2, reinterpret_cast<const std::byte*>(&totals[r / 2][v]) + r % 2 * 8,
                    8);
      }
    }
  }
};

// Multiplies rows [row, row + kRows) by kPanels panels, starting at `column`.
template <class Kernel, int kRows, int kPanels>
void multiply_tile(const PackedPanels& matrix, const MatMulRows& rows, int row, int column) {
  using Sum = typename Kernel::Sum;
  constexpr int kWidth = kPanels * kPanelWidth;
  constexpr std::size_t kElement = std::is_same_v<Sum, float> ? 2 : 1;
  const std::size_t panel_bytes =
      PanelOrder{kNarrowColumns, Kernel::kGroup}.panel_elements(matrix.input_width) * kElement;
  Sum sums[kRows * kWidth];
  Kernel::template sum_products<kRows, kPanels>(
      {.panel = matrix.panels + static_cast<std::size_t>(column / kPanelWidth) * panel_bytes,
       .panel_bytes = static_cast<std::ptrdiff_t>(panel_bytes),
       .input = rows.input + static_cast<std::size_t>(row) * rows.input_bytes,
       .input_bytes = static_cast<std::ptrdiff_t>(rows.input_bytes)},
      sums);
  finish_accumulators(
      matrix.epilogue,
      AccumulatorBlock<Sum>{sums, kWidth, kRows, column, std::min(kWidth, matrix.output_width - column)},
      rows.output.from(row));
}

// Multiplies all rows by kPanels panels.
template <class Kernel, int kRows, int kPanels>
void multiply_tiles(const PackedPanels& matrix, const MatMulRows& rows, int column) {
  for_each_tile<kRows>(rows.count, [&](auto height, int row, int /*tile*/) {
    multiply_tile<Kernel, height(), kPanels>(matrix, rows, row, column);
  });
}

template <class Kernel>
void multiply(const PackedPanels& matrix, const MatMulRows& rows) {
  if (rows.count == 0) return;
  with_tile_height<Kernel::kMaxRows>(rows.count, [&](auto height) {
    constexpr int kPanels = Kernel::panels_for(height());
    int column = 0;
    for (; column + (kPanels - 1) * kPanelWidth < matrix.output_width; column += kPanels * kPanelWidth) {
      multiply_tiles<Kernel, height(), kPanels>(matrix, rows, column);
    }
    for (; column < matrix.output_width; column += kPanelWidth) {
      multiply_tiles<Kernel, height(), 1>(matrix, rows, column);
    }
  });
}

bool has_dot_products() {
#if defined(__linux__)
  static const bool has = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
  return has;
#else
  return false;
#endif
}

}  // namespace

bool has_matrix_products() {
#if defined(__linux__)
  constexpr unsigned long kBoth = HWCAP2_I8MM | HWCAP2_BF16;
  static const bool has = (getauxval(AT_HWCAP2) & kBoth) == kBoth;
  return has;
#else
  return false;
#endif
}

void multiply_dots(const PackedPanels& matrix, const MatMulRows& rows) {
  return has_dot_products() ? multiply<Sdot>(matrix, rows) : multiply<Smull>(matrix, rows);
}

void multiply_bfloat16_matrices(const PackedPanels& matrix, const MatMulRows& rows) {
  multiply<MatrixProducts<float32x4_t, float>>(matrix, rows);
}

void multiply_int8_matrices(const PackedPanels& matrix, const MatMulRows& rows) {
  multiply<MatrixProducts<int32x4_t, std::int32_t>>(matrix, rows);
}

#else

bool has_matrix_products() {
  return false;
}

#endif

}  // namespace encdec::kernels
