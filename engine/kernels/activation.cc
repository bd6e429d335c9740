#include "encdec/engine/kernels/activation.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encdec/engine/kernels/activation.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per instruction set
#include <hwy/highway.h>
// Include these headers after highway.h.
#include "encdec/engine/kernels/functions_inl.h"
#include "encdec/engine/kernels/vectors_inl.h"

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;

void gate_values(Activation activation, const float* gate, const float* value, int count, float* output) {
  const D d;
  for_each_vector(d, count, [&](int i, int some) HWY_ATTR {
    const auto activated = activate(activation, d, load_some(d, gate + i, some));
    store_some(hn::Mul(activated, load_some(d, value + i, some)), d, output + i, some);
  });
}

void cap_all(float cap, float* values, int count) {
  cap_values(cap, values, count);
}

// Computes one step of a recurrent unit; see update_state().
void mix_states(const float* candidate, const float* gate, int count, float* state) {
  const D d;
  for_each_vector(d, count, [&](int i, int some) HWY_ATTR {
    const auto old = load_some(d, state + i, some), fresh = load_some(d, candidate + i, some);
    const auto f = activate(Activation::sigmoid, d, load_some(d, gate + i, some));
    store_some(hn::MulAdd(f, old, hn::Mul(hn::Sub(hn::Set(d, 1.0f), f), fresh)), d, state + i, some);
  });
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace encdec::kernels {

HWY_EXPORT(cap_all);
HWY_EXPORT(gate_values);
HWY_EXPORT(mix_states);

void gate(Activation activation, const float* gate, const float* value, int count, float* output) {
  HWY_DYNAMIC_DISPATCH(gate_values)(activation, gate, value, count, output);
}

void cap(float cap, float* values, int count) {
  HWY_DYNAMIC_DISPATCH(cap_all)(cap, values, count);
}

void update_state(const float* candidate, const float* gate, int count, float* state) {
  HWY_DYNAMIC_DISPATCH(mix_states)(candidate, gate, count, state);
}

}  // namespace encdec::kernels
#endif
