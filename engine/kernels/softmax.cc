#include "encdec/engine/kernels/softmax.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encdec/engine/kernels/softmax.cc"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>
// after highway.h
#include "encdec/engine/kernels/functions_inl.h"

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

static_assert(hn::MaxLanes(hn::ScalableTag<float>()) <= softmax_row(1));

void masked_softmax_of(float* HWY_RESTRICT scores, int count, int valid) {
  if (count == 0) return;
  const hn::ScalableTag<float> d;
  std::fill(scores + valid, scores + count, kMaskedScore);
  const auto normalizer = hn::Set(d, exponentials(scores, count));
  for (int j = 0; j < count; j += static_cast<int>(hn::Lanes(d))) {
    hn::StoreU(hn::Mul(hn::LoadU(d, scores + j), normalizer), d, scores + j);
  }
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace encdec::kernels {

HWY_EXPORT(masked_softmax_of);

void masked_softmax(float* scores, int count, int valid) {
  HWY_DYNAMIC_DISPATCH(masked_softmax_of)(scores, count, valid);
}

}  // namespace encdec::kernels
#endif
