#include <algorithm>
#include <cstring>

#include "encdec/engine/kernels/lookahead.h"
#include "encdec/engine/kernels/matmul_kernels.h"
#include "encdec/engine/kernels/row_tiles.h"
#include "encdec/engine/kernels/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encdec/engine/kernels/integer_matmul.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kColumns = kNarrowColumns;
// With more rows, AVX2 has too few registers, because compilers move multiplications forward. Even without these moves,
// six rows are only as fast as four.
constexpr int kTileRows = 4;
constexpr std::ptrdiff_t kPairBytes = 2 * kColumns;

int pairs_of(const PackedPanels& matrix) {
  return (matrix.input_width + 1) / 2;
}

#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

using D = hn::CappedTag<std::int32_t, 16>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kVectors = kColumns / kLanes;

// sums[r][c] = <row r of the input, column c of a panel>
template <int kRows, bool kPrefetchesNext>
HWY_INLINE void sum_products(const std::int8_t* HWY_RESTRICT panel, int pairs, const std::int16_t* HWY_RESTRICT input,
                             std::ptrdiff_t stride, NextPanel::Share next, std::int32_t* HWY_RESTRICT sums) {
  const D d;
  const hn::Repartition<std::int16_t, D> d16;
  const hn::Rebind<std::int8_t, decltype(d16)> d8;
  using V = hn::Vec<D>;
  V totals[kRows][kVectors];
  ENCDEC_UNROLL
  for (int r = 0; r < kRows; ++r) {
    ENCDEC_UNROLL
    for (int v = 0; v < kVectors; ++v) totals[r][v] = hn::Zero(d);
  }
  V unused = hn::Zero(d);
  for (int pair = 0; pair < pairs; ++pair, panel += kPairBytes) {
    if constexpr (kPrefetchesNext) {
      next.ask();
    } else {
      prefetch_line(panel + prefetch_distance(1, kPairBytes));
    }
    hn::Vec<decltype(d16)> weights[kVectors];
    ENCDEC_UNROLL
    for (int v = 0; v < kVectors; ++v) weights[v] = hn::PromoteTo(d16, hn::LoadU(d8, panel + v * 2 * kLanes));
    ENCDEC_UNROLL
    for (int r = 0; r < kRows; ++r) {
      std::int32_t both;
      std::memcpy(&both, input + r * stride + 2 * pair, sizeof(both));
      const auto x = hn::BitCast(d16, hn::Set(d, both));
      ENCDEC_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        // On x86, this instruction adds both products of a pair to the same lane.
        totals[r][v] = hn::ReorderWidenMulAccumulate(d, x, weights[v], totals[r][v], unused);
      }
    }
  }
  ENCDEC_UNROLL
  for (int r = 0; r < kRows; ++r) {
    ENCDEC_UNROLL
    for (int v = 0; v < kVectors; ++v) hn::StoreU(totals[r][v], d, sums + r * kColumns + v * kLanes);
  }
}

#else

template <int kRows, bool kPrefetchesNext>
HWY_INLINE void sum_products(const std::int8_t* HWY_RESTRICT panel, int pairs, const std::int16_t* HWY_RESTRICT input,
                             std::ptrdiff_t stride, NextPanel::Share /*next*/, std::int32_t* HWY_RESTRICT sums) {
  std::fill_n(sums, kRows * kColumns, 0);
  for (int pair = 0; pair < pairs; ++pair, panel += kPairBytes) {
    for (int r = 0; r < kRows; ++r) {
      const std::int32_t first = input[r * stride + 2 * pair], second = input[r * stride + 2 * pair + 1];
      for (int c = 0; c < kColumns; ++c) sums[r * kColumns + c] += first * panel[2 * c] + second * panel[2 * c + 1];
    }
  }
}

#endif

// Multiplies the rows of a tile by one panel and writes the outputs.
template <int kRows, bool kPrefetchesNext>
HWY_INLINE void multiply_tile(const PackedPanels& matrix, const MatMulRows& rows, const std::int8_t* panel, int column,
                              NextPanel::Share next) {
  HWY_ALIGN std::int32_t sums[kRows * kColumns];
  sum_products<kRows, kPrefetchesNext>(panel, pairs_of(matrix), reinterpret_cast<const std::int16_t*>(rows.input),
                                       static_cast<std::ptrdiff_t>(rows.input_bytes / sizeof(std::int16_t)), next,
                                       sums);
  finish_accumulators(
      matrix.epilogue,
      AccumulatorBlock<std::int32_t>{sums, kColumns, kRows, column, std::min(kColumns, matrix.output_width - column)},
      rows.output);
}

// Multiplies all rows by one panel after another.
template <int kRows>
void multiply_tiles(const PackedPanels& matrix, const MatMulRows& rows) {
  const std::size_t panel_bytes = PanelOrder{kNarrowColumns, 2}.panel_elements(matrix.input_width);
  const int tiles = count_tiles<kRows>(rows.count), pairs = pairs_of(matrix);
  const auto* panel = reinterpret_cast<const std::int8_t*>(matrix.panels);
  for (int column = 0; column < matrix.output_width; column += kColumns, panel += panel_bytes) {
    const NextPanel next(panel + panel_bytes, static_cast<std::size_t>(pairs * kPairBytes), tiles, pairs);
    for_each_tile<kRows>(rows.count, [&](auto height, int row, int tile) HWY_ATTR {
      const MatMulRows part = rows.part(row, height());
      if (next.empty()) {
        multiply_tile<height(), false>(matrix, part, panel, column, {});
      } else {
        multiply_tile<height(), true>(matrix, part, panel, column, next.share(tile));
      }
    });
  }
}

void multiply(const PackedPanels& matrix, const MatMulRows& rows) {
  if (rows.count == 0) return;
  with_tile_height<kTileRows>(rows.count, [&](auto height) HWY_ATTR { multiply_tiles<height()>(matrix, rows); });
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace encdec::kernels {

HWY_EXPORT(multiply);

void multiply_integers(const PackedPanels& matrix, const MatMulRows& rows) {
  HWY_DYNAMIC_DISPATCH(multiply)(matrix, rows);
}

}  // namespace encdec::kernels
#endif
