// Multiplies a tile of queries by a panel of keys, with accumulators in registers. Include after
// highway.h, outside all namespaces; Highway compiles this file once per instruction set.
#if defined(ENCDEC_ENGINE_KERNELS_TILE_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ENCDEC_ENGINE_KERNELS_TILE_PRODUCTS_INL_H_
#undef ENCDEC_ENGINE_KERNELS_TILE_PRODUCTS_INL_H_
#else
#define ENCDEC_ENGINE_KERNELS_TILE_PRODUCTS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "encdec/engine/kernels/query_group_inl.h"
#include "encdec/engine/kernels/unroll.h"
#include "encdec/engine/kernels/vectors_inl.h"

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

constexpr bool kHasManyRegisters = HWY_TARGET <= HWY_AVX3;

constexpr int kTileQueries = kHasManyRegisters ? 8 : 6;
constexpr int kTileVectors = kLanes > 1 ? 2 : 4;
constexpr int kPanelKeys = kTileVectors * kLanes;

using Tile = V[kTileQueries][kTileVectors];

// sums[q][v] = sum of the products of dimensions first, first + step, ... of head_dim. `row_stride`
// is the distance between the panel's rows of these dimensions. Returns the end of these rows.
HWY_INLINE const float* sum_dimensions(int head_dim, const float* HWY_RESTRICT const* queries,
                                       const float* HWY_RESTRICT panel, std::ptrdiff_t row_stride, int first, int step,
                                       Tile& sums) {
  const D d;
  ENCDEC_UNROLL
  for (int q = 0; q < kTileQueries; ++q) {
    ENCDEC_UNROLL
    for (int v = 0; v < kTileVectors; ++v) sums[q][v] = hn::Zero(d);
  }
  for (int i = first; i < head_dim; i += step, panel += row_stride) {
    V key[kTileVectors];
    for (int v = 0; v < kTileVectors; ++v) key[v] = hn::LoadU(d, panel + v * kLanes);
    ENCDEC_UNROLL
    for (int q = 0; q < kTileQueries; ++q) {
      const V query = hn::Set(d, queries[q][i]);
      ENCDEC_UNROLL
      for (int v = 0; v < kTileVectors; ++v) sums[q][v] = hn::MulAdd(query, key[v], sums[q][v]);
    }
  }
  return panel;
}

// scores[q * stride + k] = scale * sums[q][k].
HWY_INLINE void store_scaled(const Tile& sums, float scale, float* HWY_RESTRICT scores, std::size_t stride) {
  const D d;
  const V factor = hn::Set(d, scale);
  ENCDEC_UNROLL
  for (int q = 0; q < kTileQueries; ++q) {
    ENCDEC_UNROLL
    for (int v = 0; v < kTileVectors; ++v) {
      hn::StoreU(hn::Mul(sums[q][v], factor), d, scores + static_cast<std::size_t>(q) * stride + v * kLanes);
    }
  }
}

// Transposes a block of 4 x 4 floats: to[r][c] = from[c][i + r].
template <class T>
HWY_INLINE void transpose_four(const T* const* from, int i, float* const* to) {
#if HWY_TARGET == HWY_SCALAR
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 4; ++column) to[row][column] = as_float(from[column][i + row]);
  }
#else
  const hn::FixedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> pairs;
  const auto a = load(d, from[0] + i), b = load(d, from[1] + i);
  const auto c = load(d, from[2] + i), e = load(d, from[3] + i);
  const auto ab_lower = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));  // a0 b0 a1 b1
  const auto ab_upper = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
  const auto ce_lower = hn::BitCast(pairs, hn::InterleaveLower(d, c, e));
  const auto ce_upper = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab_lower, ce_lower)), d, to[0]);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab_lower, ce_lower)), d, to[1]);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab_upper, ce_upper)), d, to[2]);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab_upper, ce_upper)), d, to[3]);
#endif
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
