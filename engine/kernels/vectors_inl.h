// Loads and stores of vectors, of their first lanes, and of 16-bit floats. Include after highway.h,
// outside all namespaces; Highway compiles this file once per instruction set.
#if defined(ENCDEC_ENGINE_KERNELS_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ENCDEC_ENGINE_KERNELS_VECTORS_INL_H_
#undef ENCDEC_ENGINE_KERNELS_VECTORS_INL_H_
#else
#define ENCDEC_ENGINE_KERNELS_VECTORS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Loads a vector of floats or integers.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const hn::TFromD<D>* from) {
  return hn::LoadU(d, from);
}

// Loads bfloat16 numbers, which are the upper halves of floats.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const std::uint16_t* from) {
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<std::uint16_t, D> d16;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(d16, from))));
}

// Loads IEEE binary16 numbers.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const hwy::float16_t* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<hwy::float16_t, D>(), from));
}

// Loads the first `count` lanes and sets the others to zero.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_some(D d, const T* from, int count) {
  if (count >= static_cast<int>(hn::Lanes(d))) return load(d, from);
  HWY_ALIGN T lanes[hn::MaxLanes(D())] = {};
  for (int i = 0; i < count; ++i) lanes[i] = from[i];
  return load(d, lanes);
}

// Stores the first `count` lanes.
template <class D>
HWY_INLINE void store_some(hn::Vec<D> value, D d, hn::TFromD<D>* to, int count) {
  if (count >= static_cast<int>(hn::Lanes(d))) return hn::StoreU(value, d, to);
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(value, d, lanes);
  for (int i = 0; i < count; ++i) to[i] = lanes[i];
}

// Calls body(i, count) for elements [i, i + count) of each vector of a row. Only the last `count`
// can be smaller than a vector.
template <class D, class Body>
HWY_INLINE void for_each_vector(D d, int width, const Body& body) {
  const int lanes = static_cast<int>(hn::Lanes(d));
  int i = 0;
  for (; i + lanes <= width; i += lanes) body(i, lanes);
  if (i < width) body(i, width - i);
}

// Returns the sum of the lanes. Adds the upper half to the lower half until one lane is left. Highway's sum is not
// used, because its order of additions differs between versions, which would change results.
template <class D>
HWY_INLINE hn::TFromD<D> sum_of_lanes([[maybe_unused]] D d, hn::Vec<D> value) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(d) > 1) {
    const hn::Half<D> half;
    return sum_of_lanes(half, hn::Add(hn::LowerHalf(half, value), hn::UpperHalf(half, value)));
  }
#endif
  return hn::GetLane(value);
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
