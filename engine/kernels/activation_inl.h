// The activations on vectors, for kernels: included once per instruction set, after highway.h, inside none of its
// namespaces.
#if defined(ENCDEC_ENGINE_KERNELS_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ENCDEC_ENGINE_KERNELS_ACTIVATION_INL_H_
#undef ENCDEC_ENGINE_KERNELS_ACTIVATION_INL_H_
#else
#define ENCDEC_ENGINE_KERNELS_ACTIVATION_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "encdec/engine/activation.h"

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid(D d, V x) {
  // Highway's exp gives no infinity: beyond what a float holds its results mean nothing.
  constexpr float kLargestExponent = 88.0f;
  const V one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, hn::Exp(d, hn::Min(hn::Neg(x), hn::Set(d, kLargestExponent)))));
}

// x * (1 + tanh(u)) / 2 = x * sigmoid(2u) with u = sqrt(2 / pi) * (x + 0.044715 x^3)
template <class D, class V = hn::Vec<D>>
HWY_INLINE V gelu_tanh(D d, V x) {
  constexpr float kTwiceRootTwoOverPi = 1.5957691216057308f;
  const V cube = hn::Mul(hn::Mul(x, x), x);
  const V u = hn::MulAdd(cube, hn::Set(d, 0.044715f), x);
  return hn::Mul(x, sigmoid(d, hn::Mul(u, hn::Set(d, kTwiceRootTwoOverPi))));
}

// x * (1 + erf(x / sqrt(2))) / 2, where 1 - erf(|z|) is P(t) exp(-z^2) with t = 1 / (1 + 0.3275911 |z|) and P of
// Abramowitz and Stegun, 7.1.26: within 1.5e-7.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V gelu(D d, V x) {
  const V z = hn::Mul(x, hn::Set(d, 0.70710678f));
  const V t = hn::Div(hn::Set(d, 1.0f), hn::MulAdd(hn::Abs(z), hn::Set(d, 0.3275911f), hn::Set(d, 1.0f)));
  V p = hn::Set(d, 1.061405429f);
  p = hn::MulAdd(p, t, hn::Set(d, -1.453152027f));
  p = hn::MulAdd(p, t, hn::Set(d, 1.421413741f));
  p = hn::MulAdd(p, t, hn::Set(d, -0.284496736f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.254829592f));
  const V rest = hn::Mul(hn::Mul(p, t), hn::Exp(d, hn::Neg(hn::Mul(z, z))));  // 1 - erf(|z|)
  // The share of x that passes: 1 - rest / 2 for x > 0, rest / 2 for x < 0.
  const V half = hn::Mul(rest, hn::Set(d, 0.5f));
  return hn::Mul(x, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), half, hn::Sub(hn::Set(d, 1.0f), half)));
}

template <class D, class V = hn::Vec<D>>
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

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
