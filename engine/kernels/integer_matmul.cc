#include <algorithm>
#include <cstring>
#include <iterator>

#include "encdec/engine/kernels/matmul_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encdec/engine/kernels/integer_matmul.cc"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>
// after highway.h
#include <hwy/cache_control.h>

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kColumns = static_cast<int>(PanelColumns::narrow);
// With more rows AVX2 has too few registers once the compiler has put multiplications first.
constexpr int kTileRows = 4;
constexpr std::ptrdiff_t kPairBytes = 2 * kColumns;

#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

constexpr int kBytesAhead = 1024;

using D = hn::CappedTag<std::int32_t, 16>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kVectors = kColumns / kLanes;

// sums[r][c] = <row r of the input, column c of a panel>
template <int kRows>
HWY_INLINE void sum_products(const std::int8_t* HWY_RESTRICT panel, int pairs, const std::int16_t* HWY_RESTRICT input,
                             std::ptrdiff_t stride, std::int32_t* HWY_RESTRICT sums) {
  const D d;
  const hn::Repartition<std::int16_t, D> d16;
  const hn::Rebind<std::int8_t, decltype(d16)> d8;
  using V = hn::Vec<D>;
  V totals[kRows][kVectors];
  for (auto& row : totals) std::fill(std::begin(row), std::end(row), hn::Zero(d));
  V unused = hn::Zero(d);
  for (int pair = 0; pair < pairs; ++pair, panel += kPairBytes) {
    hwy::Prefetch(panel + kBytesAhead);  // beyond the end it does nothing
    hn::Vec<decltype(d16)> weights[kVectors];
    for (int v = 0; v < kVectors; ++v) weights[v] = hn::PromoteTo(d16, hn::LoadU(d8, panel + v * 2 * kLanes));
    for (int r = 0; r < kRows; ++r) {
      std::int32_t both;
      std::memcpy(&both, input + r * stride + 2 * pair, sizeof(both));
      const auto x = hn::BitCast(d16, hn::Set(d, both));
      for (int v = 0; v < kVectors; ++v) {
        // On x86 the two products of a lane's halves are added up in that lane.
        totals[r][v] = hn::ReorderWidenMulAccumulate(d, x, weights[v], totals[r][v], unused);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) hn::StoreU(totals[r][v], d, sums + r * kColumns + v * kLanes);
  }
}

#else

template <int kRows>
HWY_INLINE void sum_products(const std::int8_t* HWY_RESTRICT panel, int pairs, const std::int16_t* HWY_RESTRICT input,
                             std::ptrdiff_t stride, std::int32_t* HWY_RESTRICT sums) {
  std::fill_n(sums, kRows * kColumns, 0);
  for (int pair = 0; pair < pairs; ++pair, panel += kPairBytes) {
    for (int r = 0; r < kRows; ++r) {
      const std::int32_t first = input[r * stride + 2 * pair], second = input[r * stride + 2 * pair + 1];
      for (int c = 0; c < kColumns; ++c) sums[r * kColumns + c] += first * panel[2 * c] + second * panel[2 * c + 1];
    }
  }
}

#endif

template <int kRows>
void multiply_tile(const PackedPanels& matrix, const MatMulRows& rows, const std::int8_t* panel, int column) {
  HWY_ALIGN std::int32_t sums[kRows * kColumns];
  sum_products<kRows>(panel, (matrix.input_width + 1) / 2, reinterpret_cast<const std::int16_t*>(rows.input),
                      static_cast<std::ptrdiff_t>(rows.input_bytes / sizeof(std::int16_t)), sums);
  finish_sums(matrix.epilogue,
              SumsBlock<std::int32_t>{sums, kColumns, kRows, column, std::min(kColumns, matrix.output_width - column)},
              rows.output);
}

void multiply(const PackedPanels& matrix, const MatMulRows& rows) {
  const std::size_t panel_size = PanelOrder{PanelColumns::narrow, 2}.panel_elements(matrix.input_width);
  const auto* panel = reinterpret_cast<const std::int8_t*>(matrix.panels);
  for (int column = 0; column < matrix.output_width; column += kColumns, panel += panel_size) {
    int row = 0;
    for (; row + kTileRows <= rows.count; row += kTileRows) {
      multiply_tile<kTileRows>(matrix, rows.part(row, kTileRows), panel, column);
    }
    const MatMulRows rest = rows.part(row, rows.count - row);
    switch (rest.count) {
      case 3: multiply_tile<3>(matrix, rest, panel, column); break;
      case 2: multiply_tile<2>(matrix, rest, panel, column); break;
      case 1: multiply_tile<1>(matrix, rest, panel, column); break;
      default: break;
    }
  }
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
