#include "encdec/engine/kernels/activation.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encdec/engine/kernels/activation.cc"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>
// after highway.h
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, hn::Exp(d, hn::Neg(x))));
}

// x * (1 + tanh(u)) / 2 = x * sigmoid(2u) with u = sqrt(2 / pi) * (x + 0.044715 x^3)
HWY_INLINE V gelu_tanh(D d, V x) {
  constexpr float kTwiceRootTwoOverPi = 1.5957691216057308f;
  const V cube = hn::Mul(hn::Mul(x, x), x);
  const V u = hn::MulAdd(cube, hn::Set(d, 0.044715f), x);
  return hn::Mul(x, sigmoid(d, hn::Mul(u, hn::Set(d, kTwiceRootTwoOverPi))));
}

// Highway has no erf, and gates use it rarely.
HWY_INLINE V gelu(D d, V x) {
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(x, d, lanes);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] *= 0.5f * (1.0f + std::erf(lanes[i] * 0.70710678f));
  return hn::Load(d, lanes);
}

HWY_INLINE V activate(Activation activation, D d, V x) {
  switch (activation) {
    case Activation::identity: return x;
    case Activation::relu: return hn::Max(x, hn::Zero(d));
    case Activation::gelu: return gelu(d, x);
    case Activation::gelu_tanh: return gelu_tanh(d, x);
    case Activation::gelu_sigmoid: return hn::Mul(x, sigmoid(d, hn::Mul(x, hn::Set(d, 1.702f))));
    case Activation::silu: return hn::Mul(x, sigmoid(d, x));
    case Activation::tanh: return hn::Tanh(d, x);
    case Activation::sigmoid: return sigmoid(d, x);
  }
  return x;
}

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
