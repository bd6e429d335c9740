// Vectors of parts of rows, and of bfloat16, for kernels: included once per instruction set, after highway.h, inside
// none of its namespaces.
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

// A vector of floats or integers from memory.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const hn::TFromD<D>* from) {
  return hn::LoadU(d, from);
}

// Of floats, from bfloat16: those are their upper halves.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const std::uint16_t* from) {
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<std::uint16_t, D> d16;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(d16, from))));
}

// The first `count` lanes; the others are zero.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_some(D d, const T* from, int count) {
  if (count >= static_cast<int>(hn::Lanes(d))) return load(d, from);
  HWY_ALIGN T lanes[hn::MaxLanes(D())] = {};
  for (int i = 0; i < count; ++i) lanes[i] = from[i];
  return load(d, lanes);
}

template <class D>
HWY_INLINE void store_some(hn::Vec<D> value, D d, hn::TFromD<D>* to, int count) {
  if (count >= static_cast<int>(hn::Lanes(d))) return hn::StoreU(value, d, to);
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(value, d, lanes);
  for (int i = 0; i < count; ++i) to[i] = lanes[i];
}

// The sum of the lanes, half after half. Highway's own adds them in another order from version to version: results
// would depend on which one they were built with.
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
