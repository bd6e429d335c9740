#include <algorithm>
#include <cstring>

#include "encdec/engine/kernels/lookahead.h"
#include "encdec/engine/kernels/matmul_kernels.h"
#include "encdec/engine/kernels/quantization.h"
#include "encdec/engine/kernels/row_tiles.h"
#include "encdec/engine/kernels/unroll.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace encdec::kernels {

#if defined(__x86_64__)

namespace {

// All kernels here share one target attribute. Compilers emit bfloat16 instructions only for bfloat16 intrinsics.
#define ENCDEC_PRODUCTS __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512bf16")))

constexpr int kVectors = 4;  // number of vectors of 16 columns in a panel
constexpr int kMaxTileRows = 6;
constexpr int kAccumulators = kMaxTileRows * kVectors;  // number of registers for accumulators

// In Bytes and Pairs, one instruction multiplies four bytes of inputs by four bytes of weights in each of 16 columns,
// and adds the dot products to 16 accumulators.
struct Bytes {
  using Sum = std::int32_t;
  static constexpr int kGroup = 4;
  ENCDEC_PRODUCTS static __m512i add(__m512i sums, __m512i inputs, __m512i weights) {
    return _mm512_dpbusd_epi32(sums, inputs, weights);
  }
  // Constants of 16 columns. value() scales the accumulators exactly as finish_accumulators() does.
  struct Columns {
    __m512i offsets;
    __m512 scales;
    ENCDEC_PRODUCTS Columns(const MatMulEpilogue& epilogue, int column)
        : offsets(_mm512_loadu_si512(epilogue.offsets + column)),
          scales(_mm512_loadu_ps(epilogue.column_scales + column)) {}
    ENCDEC_PRODUCTS __m512 value(__m512i sums, float row_scale) const {
      // Use the masked conversion, because gcc 12 warns about uninitialised values in the unmasked one.
      return _mm512_maskz_cvtepi32_ps(0xFFFF, _mm512_sub_epi32(sums, offsets)) * (_mm512_set1_ps(row_scale) * scales);
    }
  };
};

struct Pairs {
  using Sum = float;
  static constexpr int kGroup = 2;
  ENCDEC_PRODUCTS static __m512i add(__m512i sums, __m512i inputs, __m512i weights) {
    return reinterpret_cast<__m512i>(_mm512_dpbf16_ps(
        reinterpret_cast<__m512>(sums), reinterpret_cast<__m512bh>(inputs), reinterpret_cast<__m512bh>(weights)));
  }
  struct Columns {
    Columns(const MatMulEpilogue& /*epilogue*/, int /*column*/) {}
    ENCDEC_PRODUCTS __m512 value(__m512i sums, float /*row_scale*/) const { return reinterpret_cast<__m512>(sums); }
  };
};

// A matrix, the rows to multiply by it, and their layout.
template <class Products>
struct Problem {
  const PackedPanels& matrix;
  const MatMulRows& rows;

  int groups() const { return (matrix.input_width + Products::kGroup - 1) / Products::kGroup; }
  std::size_t panel_bytes() const {
    const PanelOrder order{kWideColumns, Products::kGroup};
    return order.padded_rows(matrix.input_width) / Products::kGroup * static_cast<std::size_t>(kWideGroupBytes);
  }
  const std::byte* panel(int column) const {
    return matrix.panels + static_cast<std::size_t>(column / kWideColumns) * panel_bytes();
  }
  // Returns the panel at `column`, which the tiles of the preceding panel prefetch.
  NextPanel next_panel(int column, int tiles) const {
    return {panel(column), static_cast<std::size_t>(groups() * kWideGroupBytes), tiles, groups()};
  }
};

// Applies the epilogue to a tile's accumulators and writes the outputs.
template <class Products, int kRows, int kSumVectors>
[[gnu::always_inline]] ENCDEC_PRODUCTS inline void finish_tile(const Problem<Products>& problem, int row, int column,
                                                               const __m512i (&sums)[kRows][kSumVectors]) {
  constexpr int kWidth = kSumVectors * 16;
  const MatMulEpilogue& epilogue = problem.matrix.epilogue;
  const OutputRows output = problem.rows.output.from(row);
  if (column + kWidth <= problem.matrix.output_width && epilogue.activation == Activation::identity) {
    // Without an activation, finish whole vectors in registers. This takes 3 % less time per tile.
    ENCDEC_UNROLL
    for (int v = 0; v < kSumVectors; ++v) {
      const int first = column + v * 16;
      const typename Products::Columns columns(epilogue, first);
      const __m512 bias = epilogue.bias != nullptr ? _mm512_loadu_ps(epilogue.bias + first) : _mm512_set1_ps(-0.0f);
      ENCDEC_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const std::ptrdiff_t at = r * output.stride + first;
        __m512 y = columns.value(sums[r][v], output.row_scale(r)) + bias;
        if (output.residual != nullptr) y += _mm512_loadu_ps(output.residual + at);
        _mm512_storeu_ps(output.output + at, y);
      }
    }
    return;
  }
  alignas(64) typename Products::Sum stored[kRows * kWidth];
  ENCDEC_UNROLL
  for (int r = 0; r < kRows; ++r) {
    ENCDEC_UNROLL
    for (int v = 0; v < kSumVectors; ++v) _mm512_store_si512(stored + r * kWidth + v * 16, sums[r][v]);
  }
  finish_accumulators(epilogue,
                      AccumulatorBlock<typename Products::Sum>{stored, kWidth, kRows, column,
                                                               std::min(kWidth, problem.matrix.output_width - column)},
                      output);
}

// Multiplies rows [row, row + kRows) by kPanels panels, starting at `column`. Adds products in the order of inputs.
template <class Products, int kRows, int kPanels, bool kPrefetchesNext>
ENCDEC_PRODUCTS void multiply_tile(const Problem<Products>& problem, int row, int column, NextPanel::Share next) {
  const auto panel_bytes = static_cast<std::ptrdiff_t>(problem.panel_bytes());
  const std::byte* panel = problem.panel(column);
  const std::byte* inputs[kRows];
  __m512i sums[kRows][kPanels * kVectors];
  ENCDEC_UNROLL
  for (int r = 0; r < kRows; ++r) {
    inputs[r] = problem.rows.input + static_cast<std::size_t>(row + r) * problem.rows.input_bytes;
    ENCDEC_UNROLL
    for (int v = 0; v < kPanels * kVectors; ++v) sums[r][v] = _mm512_setzero_si512();
  }
  const int groups = problem.groups();
  // For each group of inputs, load the weights of all columns, then multiply them by each row.
  for (int group = 0; group < groups; ++group, panel += kWideGroupBytes) {
    if constexpr (kPrefetchesNext) next.ask();
    ENCDEC_UNROLL
    for (int p = 0; p < kPanels; ++p) {
      const std::byte* from = panel + p * panel_bytes;
      __m512i weights[kVectors];
      ENCDEC_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        if constexpr (!kPrefetchesNext)
          prefetch_line(from + prefetch_distance(kPanels, kWideGroupBytes) + v * kLineBytes);
        weights[v] = _mm512_loadu_si512(from + v * kLineBytes);
      }
      ENCDEC_UNROLL
      for (int r = 0; r < kRows; ++r) {
        std::int32_t of_row;
        std::memcpy(&of_row, inputs[r] + 4 * group, sizeof(of_row));
        const __m512i input = _mm512_set1_epi32(of_row);
        ENCDEC_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          __m512i& sum = sums[r][p * kVectors + v];
          sum = Products::add(sum, input, weights[v]);
        }
      }
    }
  }
  finish_tile<Products>(problem, row, column, sums);
}

// Multiplies all rows by kPanels panels.
template <class Products, int kRows, int kPanels>
void multiply_tiles(const Problem<Products>& problem, int column) {
  const int rows = problem.rows.count;
  const NextPanel next = problem.next_panel(column + kPanels * kWideColumns, count_tiles<kRows>(rows));
  for_each_tile<kRows>(rows, [&](auto height, int row, int tile) {
    if (next.empty()) {
      multiply_tile<Products, height(), kPanels, false>(problem, row, column, {});
    } else {
      multiply_tile<Products, height(), kPanels, true>(problem, row, column, next.share(tile));
    }
  });
}

// Multiplies by several panels at once, because a CPU reads several streams of memory faster than one stream. The
// number of panels is limited by the registers for accumulators.
template <class Products, int kRows>
void multiply_by_tiles_of(const Problem<Products>& problem) {
  constexpr int kPanels = std::clamp(kAccumulators / (kVectors * kRows), 1, 4);
  const int width = problem.matrix.output_width;
  int column = 0;
  for (; column + (kPanels - 1) * kWideColumns < width; column += kPanels * kWideColumns) {
    multiply_tiles<Products, kRows, kPanels>(problem, column);
  }
  for (; column < width; column += kWideColumns) multiply_tiles<Products, kRows, 1>(problem, column);
}

template <class Products>
void multiply(const Problem<Products>& problem) {
  if (problem.rows.count == 0) return;
  with_tile_height<kMaxTileRows>(problem.rows.count,
                                 [&](auto height) { multiply_by_tiles_of<Products, height()>(problem); });
}

// Like multiply_tile(), but for 4-bit weights. The accumulators of half a block fit 16 bits, so one instruction can
// multiply them by the block's steps and add the products to the totals.
template <int kRows, int kPanels>
ENCDEC_PRODUCTS void multiply_nibble_tile(const Problem<Bytes>& problem, int row, int column) {
  constexpr std::ptrdiff_t kBlockBytes = kNibbleBlock / 2 * kWideColumns;
  const std::ptrdiff_t blocks = count_tiles<kNibbleBlock>(problem.matrix.input_width);
  const std::ptrdiff_t first_panel = column / kWideColumns;
  const std::ptrdiff_t ahead = prefetch_distance(kPanels, kWideGroupBytes);
  const auto input_bytes = static_cast<std::ptrdiff_t>(problem.rows.input_bytes);
  const std::byte* input = problem.rows.input + row * input_bytes;
  const __m512i lower_half = _mm512_set1_epi8(15), eights = _mm512_set1_epi8(8);
  __m512i totals[kRows][kPanels * kVectors];
  ENCDEC_UNROLL
  for (int r = 0; r < kRows; ++r) {
    ENCDEC_UNROLL
    for (int v = 0; v < kPanels * kVectors; ++v) totals[r][v] = _mm512_setzero_si512();
  }
  for (std::ptrdiff_t block = 0; block < blocks; ++block, input += kNibbleBlock) {
    ENCDEC_UNROLL
    for (int v = 0; v < kPanels * kVectors; ++v) {
      asm volatile("" : : : "memory");  // otherwise gcc 12 loads all inputs early and spills registers
      // Load the codes and the steps of 16 columns.
      const std::ptrdiff_t at = (first_panel + v / kVectors) * blocks + block;
      const std::byte* codes = problem.matrix.panels + at * kBlockBytes + v % kVectors * kLineBytes;
      const __m128i steps = _mm_loadu_si128(
          reinterpret_cast<const __m128i*>(problem.matrix.steps + at * kWideColumns + v % kVectors * 16));
      const __m512i lower_steps =
          _mm512_and_si512(_mm512_maskz_cvtepi8_epi32(0xFFFF, steps), _mm512_set1_epi32(0xFFFF));
      ENCDEC_UNROLL
      for (int half = 0; half < 2; ++half) {
        __m512i sums[kRows];
        ENCDEC_UNROLL
        for (int r = 0; r < kRows; ++r) sums[r] = _mm512_setzero_si512();
        ENCDEC_UNROLL
        for (int group = 2 * half; group < 2 * half + 2; ++group) {
          prefetch_line(codes + group * kWideGroupBytes + ahead);
          // Each byte holds the codes of two inputs. Unpack both codes to signed bytes.
          const __m512i both = _mm512_loadu_si512(codes + group * kWideGroupBytes);
          const __m512i low = _mm512_sub_epi8(_mm512_and_si512(both, lower_half), eights);
          const __m512i high = _mm512_sub_epi8(_mm512_and_si512(_mm512_srli_epi16(both, 4), lower_half), eights);
          ENCDEC_UNROLL
          for (int r = 0; r < kRows; ++r) {
            std::int32_t of_row[2];
            std::memcpy(of_row, input + r * input_bytes + group * 8, sizeof(of_row));
            sums[r] = Bytes::add(sums[r], _mm512_set1_epi32(of_row[0]), low);
            sums[r] = Bytes::add(sums[r], _mm512_set1_epi32(of_row[1]), high);
          }
        }
        ENCDEC_UNROLL
        for (int r = 0; r < kRows; ++r) totals[r][v] = _mm512_dpwssd_epi32(totals[r][v], sums[r], lower_steps);
      }
    }
  }
  finish_tile<Bytes>(problem, row, column, totals);
}

// Multiplies by kPanels panels at a time, starting at `column`. Returns the first column of the panels that are left.
template <int kRows, int kPanels>
int multiply_nibble_panels(const Problem<Bytes>& problem, int column) {
  for (; column + (kPanels - 1) * kWideColumns < problem.matrix.output_width; column += kPanels * kWideColumns) {
    for_each_tile<kRows>(problem.rows.count, [&](auto height, int row, int /*tile*/) {
      multiply_nibble_tile<height(), kPanels>(problem, row, column);
    });
  }
  return column;
}

}  // namespace

void multiply_bytes(const PackedPanels& matrix, const MatMulRows& rows) {
  multiply(Problem<Bytes>{matrix, rows});
}

void multiply_bfloat16_pairs(const PackedPanels& matrix, const MatMulRows& rows) {
  multiply(Problem<Pairs>{matrix, rows});
}

void multiply_few_by_nibbles(const PackedPanels& matrix, const MatMulRows& rows) {
  const Problem<Bytes> problem{matrix, rows};
  if (rows.count == 0) return;
  with_tile_height<4>(rows.count, [&](auto height) {
    const int column = multiply_nibble_panels<height(), std::max(1, 4 / height())>(problem, 0);
    multiply_nibble_panels<height(), 1>(problem, column);
  });
}

#endif

}  // namespace encdec::kernels
