#include "encdec/engine/kernels/activation.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encdec/engine/kernels/activation.cc"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>
// after highway.h
#include "encdec/engine/kernels/activation_inl.h"

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;

void gate_values(Activation activation, const float* gate, const float* value, int count, float* output) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  int i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::Mul(activate(activation, d, hn::LoadU(d, gate + i)), hn::LoadU(d, value + i)), d, output + i);
  }
  if (i == count) return;
  HWY_ALIGN float rest[HWY_MAX_BYTES / sizeof(float)] = {};
  std::copy(gate + i, gate + count, rest);
  hn::Store(activate(activation, d, hn::Load(d, rest)), d, rest);
  for (int j = i; j < count; ++j) output[j] = rest[j - i] * value[j];
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace encdec::kernels {

HWY_EXPORT(gate_values);

void gate(Activation activation, const float* gate, const float* value, int count, float* output) {
  HWY_DYNAMIC_DISPATCH(gate_values)(activation, gate, value, count, output);
}

}  // namespace encdec::kernels
#endif
