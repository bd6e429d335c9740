// The exponential function on vectors, for kernels: included once per instruction set, after highway.h, inside none of
// its namespaces.
#if defined(ENCDEC_ENGINE_KERNELS_EXPONENTIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ENCDEC_ENGINE_KERNELS_EXPONENTIAL_INL_H_
#undef ENCDEC_ENGINE_KERNELS_EXPONENTIAL_INL_H_
#else
#define ENCDEC_ENGINE_KERNELS_EXPONENTIAL_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// exp(x) for x <= 0, within 2 units in the last place; 0 for x below -87, where floats lose digits. In half the
// operations of Highway's, which takes every x but makes 0 of NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_of_nonpositive(D d, V x) {
  const hn::RebindToSigned<D> integers;
  // Added to a small number, it leaves the nearest integer in the last bits; the 127 makes that a float's exponent.
  const V shift = hn::Set(d, 0x1.8p23f + 127.0f);
  const V shifted = hn::MulAdd(x, hn::Set(d, 1.44269504f), shift);
  const V exponent = hn::Sub(shifted, shift);
  const V power = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(integers, shifted)));
  // ln(2) in two parts, the first of so few digits that its product is exact.
  V r = hn::MulAdd(exponent, hn::Set(d, -0.693145752f), x);
  r = hn::MulAdd(exponent, hn::Set(d, -1.42860677e-6f), r);
  // exp(r) = 1 + r + r^2 p(r) for |r| <= ln(2) / 2, where p has the smallest largest relative error.
  V p = hn::Set(d, 0.00138145406f);
  p = hn::MulAdd(p, r, hn::Set(d, 0.00836874545f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.041668389f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.166665211f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.49999994f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.0f)), hn::Mul(p, power));
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
