// Dot products of queries and keys. Include after highway.h, outside all namespaces; Highway
// compiles this file once per instruction set.
#if defined(ENCDEC_ENGINE_KERNELS_DOT_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ENCDEC_ENGINE_KERNELS_DOT_PRODUCTS_INL_H_
#undef ENCDEC_ENGINE_KERNELS_DOT_PRODUCTS_INL_H_
#else
#define ENCDEC_ENGINE_KERNELS_DOT_PRODUCTS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "encdec/engine/kernels/vectors_inl.h"

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

constexpr int kKeysAtOnce = 4;

// Writes the sums of the lanes of a, b, c and e to sums[0] to sums[3], adding in a fixed order.
template <class D, class V>
HWY_INLINE void sum_lanes(D d, V a, V b, V c, V e, float* HWY_RESTRICT sums) {
#if HWY_TARGET == HWY_SCALAR
  sums[0] = hn::GetLane(a), sums[1] = hn::GetLane(b), sums[2] = hn::GetLane(c), sums[3] = hn::GetLane(e);
  (void)d;
#else
  const hn::Repartition<double, D> pairs;
  // In each 128 bits: a0 + a2, b0 + b2, a1 + a3, b1 + b3.
  const V ab = hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  const V ce = hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e));
  const auto ab_pairs = hn::BitCast(pairs, ab), ce_pairs = hn::BitCast(pairs, ce);
  // In each 128 bits: the sums of the four lanes of a, b, c and e.
  const V blocks = hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, ab_pairs, ce_pairs)),
                           hn::BitCast(d, hn::InterleaveUpper(pairs, ab_pairs, ce_pairs)));
  const hn::FixedTag<float, 4> block;
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(blocks, d, lanes);
  auto total = hn::Load(block, lanes);
  for (std::size_t i = 4; i < hn::Lanes(d); i += 4) total = hn::Add(total, hn::Load(block, lanes + i));
  hn::StoreU(total, block, sums);
#endif
}

// products[q * stride + j] = <query q, key j> for four keys. kQueries does not change results.
template <int kQueries, class T>
HWY_INLINE void multiply_four_keys(const float* HWY_RESTRICT const* queries, const T* HWY_RESTRICT const* keys,
                                   int width, float* HWY_RESTRICT products, std::ptrdiff_t stride) {
  using D = hn::ScalableTag<float>;
  using V = hn::Vec<D>;
  constexpr int kWidth = static_cast<int>(hn::MaxLanes(D()));
  const D d;
  V sums[kQueries][kKeysAtOnce];
  for (auto& row : sums) std::fill(std::begin(row), std::end(row), hn::Zero(d));
  const auto add_products = [&](int i, const auto& read) HWY_ATTR {
    V key[kKeysAtOnce];
    for (int k = 0; k < kKeysAtOnce; ++k) key[k] = read(keys[k] + i);
    for (int q = 0; q < kQueries; ++q) {
      const V query = read(queries[q] + i);
      for (int k = 0; k < kKeysAtOnce; ++k) sums[q][k] = hn::MulAdd(query, key[k], sums[q][k]);
    }
  };
  int i = 0;
  for (; i + kWidth <= width; i += kWidth) {
    add_products(i, [d](const auto* from) HWY_ATTR { return load(d, from); });
  }
  if (const int rest = width - i; rest > 0) {
    add_products(i, [rest](const auto* from) HWY_ATTR { return load_some(D(), from, rest); });
  }
  for (int q = 0; q < kQueries; ++q) {
    sum_lanes(d, sums[q][0], sums[q][1], sums[q][2], sums[q][3], products + q * stride);
  }
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
