// The softmax on vectors, for kernels: included once per instruction set, after highway.h, inside none of its
// namespaces.
#if defined(ENCDEC_ENGINE_KERNELS_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ENCDEC_ENGINE_KERNELS_SOFTMAX_INL_H_
#undef ENCDEC_ENGINE_KERNELS_SOFTMAX_INL_H_
#else
#define ENCDEC_ENGINE_KERNELS_SOFTMAX_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "encdec/engine/kernels/exponential_inl.h"
#include "encdec/engine/kernels/vectors_inl.h"

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Turns `count` scores into exp(score - max), padded with zeros to whole vectors; returns one over their sum.
HWY_INLINE float exponentials(float* HWY_RESTRICT scores, int count) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<hn::ScalableTag<float>>;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int padded = (count + lanes - 1) / lanes * lanes;
  std::fill(scores + count, scores + padded, -std::numeric_limits<float>::infinity());
  V maximum = hn::Set(d, -std::numeric_limits<float>::infinity());
  for (int j = 0; j < padded; j += lanes) maximum = hn::Max(maximum, hn::LoadU(d, scores + j));
  maximum = hn::MaxOfLanes(d, maximum);
  V sum = hn::Zero(d);
  for (int j = 0; j < padded; j += lanes) {
    const V weight = exp_of_nonpositive(d, hn::Sub(hn::LoadU(d, scores + j), maximum));
    hn::StoreU(weight, d, scores + j);
    sum = hn::Add(sum, weight);
  }
  return 1.0f / sum_of_lanes(d, sum);
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
