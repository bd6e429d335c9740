// exp on vectors, and functions that use it: softmax, activations. Highway has such functions, but their results may
// differ between versions. Include after highway.h, outside all namespaces; Highway compiles this file once per
// instruction set.
#if defined(ENCDEC_ENGINE_KERNELS_FUNCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ENCDEC_ENGINE_KERNELS_FUNCTIONS_INL_H_
#undef ENCDEC_ENGINE_KERNELS_FUNCTIONS_INL_H_
#else
#define ENCDEC_ENGINE_KERNELS_FUNCTIONS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "encdec/engine/base/activation.h"
#include "encdec/engine/kernels/vectors_inl.h"

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Returns exp(x) for x <= 0, with an error of at most 2 units in the last place. Returns 0 for x < -87, where floats
// lose digits, and NaN for NaN. Needs half the operations of Highway's Exp, which accepts every x but returns 0 for
// NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_of_nonpositive(D d, V x) {
  const hn::RebindToSigned<D> integers;
  // Adding `shift` rounds a small number to an integer and leaves it in the lowest bits. The 127
  // makes these bits the exponent of a float.
  const V shift = hn::Set(d, 0x1.8p23f + 127.0f);
  const V shifted = hn::MulAdd(x, hn::Set(d, 1.44269504f), shift);
  const V exponent = hn::Sub(shifted, shift);
  const V power = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(integers, shifted)));
  // ln(2) as a sum of two numbers. The first has few digits, so it is multiplied exactly.
  V r = hn::MulAdd(exponent, hn::Set(d, -0.693145752f), x);
  r = hn::MulAdd(exponent, hn::Set(d, -1.42860677e-6f), r);
  // exp(r) = 1 + r + r^2 p(r) for |r| <= ln(2) / 2. p minimises the maximum relative error.
  V p = hn::Set(d, 0.00138145406f);
  p = hn::MulAdd(p, r, hn::Set(d, 0.00836874545f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.041668389f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.166665211f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.49999994f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.0f)), hn::Mul(p, power));
}

// Replaces `count` scores by exp(score - maximum) and pads them with zeros to whole vectors.
// Returns 1 / sum, and the maximum in `highest`.
HWY_INLINE float exponentials(float* HWY_RESTRICT scores, int count, float& highest) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<hn::ScalableTag<float>>;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int padded = (count + lanes - 1) / lanes * lanes;
  std::fill(scores + count, scores + padded, -std::numeric_limits<float>::infinity());
  V maximum = hn::Set(d, -std::numeric_limits<float>::infinity());
  for (int j = 0; j < padded; j += lanes) maximum = hn::Max(maximum, hn::LoadU(d, scores + j));
  maximum = hn::MaxOfLanes(d, maximum);
  highest = hn::GetLane(maximum);
  V sum = hn::Zero(d);
  for (int j = 0; j < padded; j += lanes) {
    const V weight = exp_of_nonpositive(d, hn::Sub(hn::LoadU(d, scores + j), maximum));
    hn::StoreU(weight, d, scores + j);
    sum = hn::Add(sum, weight);
  }
  return 1.0f / sum_of_lanes(d, sum);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V decay = exp_of_nonpositive(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), decay, one), hn::Add(one, decay));
}

// Computes tanh(x) = (1 - exp(-2 |x|)) / (1 + exp(-2 |x|)) with the sign of x. Near zero, the difference would lose
// digits, so the result is x + x^3 p(x^2) with the polynomial p of Cephes' tanhf.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V tanh(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V magnitude = hn::Abs(x);
  const V decay = exp_of_nonpositive(d, hn::Mul(magnitude, hn::Set(d, -2.0f)));
  const V far = hn::CopySignToAbs(hn::Div(hn::Sub(one, decay), hn::Add(one, decay)), x);
  const V square = hn::Mul(x, x);
  V p = hn::Set(d, -5.70498872745e-3f);
  p = hn::MulAdd(p, square, hn::Set(d, 2.06390887954e-2f));
  p = hn::MulAdd(p, square, hn::Set(d, -5.37397155531e-2f));
  p = hn::MulAdd(p, square, hn::Set(d, 1.33314422036e-1f));
  p = hn::MulAdd(p, square, hn::Set(d, -3.33332819422e-1f));
  const V near = hn::MulAdd(hn::Mul(p, square), x, x);
  return hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0.625f)), near, far);
}

// Replaces each value x by cap * tanh(x / cap).
HWY_INLINE void cap_values(float cap, float* HWY_RESTRICT values, int count) {
  const hn::ScalableTag<float> d;
  const auto caps = hn::Set(d, cap);
  for_each_vector(d, count, [&](int i, int some) HWY_ATTR {
    const auto capped = hn::Mul(tanh(d, hn::Div(load_some(d, values + i, some), caps)), caps);
    store_some(capped, d, values + i, some);
  });
}

// x * (1 + tanh(u)) / 2 = x * sigmoid(2u) with u = sqrt(2 / pi) * (x + 0.044715 x^3)
template <class D, class V = hn::Vec<D>>
HWY_INLINE V gelu_tanh(D d, V x) {
  constexpr float kTwiceRootTwoOverPi = 1.5957691216057308f;
  const V cube = hn::Mul(hn::Mul(x, x), x);
  const V u = hn::MulAdd(cube, hn::Set(d, 0.044715f), x);
  return hn::Mul(x, sigmoid(d, hn::Mul(u, hn::Set(d, kTwiceRootTwoOverPi))));
}

// x * (1 + erf(z)) / 2 with z = x / sqrt(2). For |z|, 1 - erf(|z|) = P(t) exp(-z^2) with
// t = 1 / (1 + 0.3275911 |z|) and the polynomial P of Abramowitz and Stegun, 7.1.26. The error is
// at most 1.5e-7.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V gelu(D d, V x) {
  const V z = hn::Mul(x, hn::Set(d, 0.70710678f));
  const V t = hn::Div(hn::Set(d, 1.0f), hn::MulAdd(hn::Abs(z), hn::Set(d, 0.3275911f), hn::Set(d, 1.0f)));
  V p = hn::Set(d, 1.061405429f);
  p = hn::MulAdd(p, t, hn::Set(d, -1.453152027f));
  p = hn::MulAdd(p, t, hn::Set(d, 1.421413741f));
  p = hn::MulAdd(p, t, hn::Set(d, -0.284496736f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.254829592f));
  const V rest = hn::Mul(hn::Mul(p, t), exp_of_nonpositive(d, hn::Neg(hn::Mul(z, z))));  // 1 - erf(|z|)
  // The factor of x: 1 - rest / 2 for x > 0, rest / 2 for x < 0.
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
    case Activation::tanh: return tanh(d, x);
    case Activation::sigmoid: return sigmoid(d, x);
  }
  return x;
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
