#include "encdec/engine/kernels/quantization.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "encdec/engine/kernels/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encdec/engine/kernels/quantization.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per instruction set
#include <hwy/highway.h>
// Include this header after highway.h.
#include "encdec/engine/kernels/vectors_inl.h"

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;

// If max |x| is smaller, the row is treated as zeros, because 127 / max |x| would overflow.
constexpr float kSmallestScaled = 1e-35f;
constexpr float kLevels = 127.0f;  // number of levels on each side of zero

// Returns max |x|, or NaN if a value is not finite.
float largest_magnitude(const float* HWY_RESTRICT row, int width) {
  constexpr std::int32_t kInfinity = 0x7F800000;
  const D d;
  const hn::RebindToSigned<D> di;
  // Without sign bits, floats compare like integers with the same bits, and NaN is greater than infinity.
  auto largest = hn::Zero(di);
  for_each_vector(d, width, [&](int i, int count) HWY_ATTR {
    largest = hn::Max(largest, hn::BitCast(di, hn::Abs(load_some(d, row + i, count))));
  });
  const std::int32_t bits = hn::GetLane(hn::MaxOfLanes(di, largest));
  return bits < kInfinity ? std::bit_cast<float>(bits) : std::numeric_limits<float>::quiet_NaN();
}

// Writes round(x * factor) + shift. REQUIRES: the results fit T.
template <class T>
void write_quantized(const float* HWY_RESTRICT row, int width, float factor, int shift, T* HWY_RESTRICT output) {
  const D d;
  const hn::RebindToSigned<D> di;
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<std::make_unsigned_t<T>, D> dt;
  const auto factors = hn::Set(d, factor);
  const auto shifts = hn::Set(di, shift);
  for_each_vector(d, width, [&](int i, int count) HWY_ATTR {
    const auto q = hn::Add(hn::NearestInt(hn::Mul(load_some(d, row + i, count), factors)), shifts);
    store_some(hn::TruncateTo(dt, hn::BitCast(du, q)), dt, reinterpret_cast<std::make_unsigned_t<T>*>(output) + i,
               count);
  });
}

// q = round(x * factor), and x is about q * scale. If the scale is 0 or NaN (see convert_row()), the factor is 0.
struct Scaling {
  float factor;
  float scale;
};

Scaling scaling_of(const float* row, int width) {
  const float largest = largest_magnitude(row, width);
  if (largest >= kSmallestScaled) return {kLevels / largest, largest / kLevels};
  return {0.0f, std::isnan(largest) ? largest : 0.0f};
}

template <class T>
float quantize(const float* HWY_RESTRICT row, int width, int shift, T* HWY_RESTRICT output) {
  const Scaling scaling = scaling_of(row, width);
  if (scaling.factor == 0.0f) {
    for (int i = 0; i < width; ++i) output[i] = static_cast<T>(shift);
  } else {
    write_quantized(row, width, scaling.factor, shift, output);
  }
  return scaling.scale;
}

// Rounds x to bfloat16, which is the upper half of the returned bits. The lower half has no meaning.
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> rounded_bits(D d, hn::Vec<D> x) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, x);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFF)));
  // Do not round a NaN, because rounding could turn it into infinity or zero. Only set its quiet bit.
  return hn::IfThenElse(hn::BitCast(du, hn::VecFromMask(d, hn::IsNaN(x))) == hn::Zero(du), rounded,
                        hn::Or(bits, hn::Set(du, 0x00400000)));
}

void write_bfloat16(const float* HWY_RESTRICT row, int width, std::uint16_t* HWY_RESTRICT output) {
  const D d;
  const hn::Rebind<std::uint16_t, D> d16;
  const hn::RebindToSigned<D> di;
  const hn::Rebind<std::int16_t, D> di16;
  for_each_vector(d, width, [&](int i, int count) HWY_ATTR {
    // Use signed integers, so that DemoteTo keeps the bits.
    const auto upper = hn::ShiftRight<16>(hn::BitCast(di, rounded_bits(d, load_some(d, row + i, count))));
    store_some(hn::BitCast(d16, hn::DemoteTo(di16, upper)), d16, output + i, count);
  });
}

void write_rounded(const float* HWY_RESTRICT row, int width, float* HWY_RESTRICT output) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  for_each_vector(d, width, [&](int i, int count) HWY_ATTR {
    const auto kept = hn::And(rounded_bits(d, load_some(d, row + i, count)), hn::Set(du, 0xFFFF0000u));
    store_some(hn::BitCast(d, kept), d, output + i, count);
  });
}

// Writes q * scale, where q and scale are the results of quantize().
void write_dequantized(const float* HWY_RESTRICT row, int width, float* HWY_RESTRICT output) {
  const D d;
  const Scaling scaling = scaling_of(row, width);
  const auto factors = hn::Set(d, scaling.factor), scales = hn::Set(d, scaling.scale);
  for_each_vector(d, width, [&](int i, int count) HWY_ATTR {
    store_some(hn::Mul(hn::Round(hn::Mul(load_some(d, row + i, count), factors)), scales), d, output + i, count);
  });
}

// Converts a row and returns its scale. The scale is 1 unless `form` is an integer form.
float convert(InputForm form, const float* row, int width, std::byte* output) {
  switch (form) {
    case InputForm::float32: std::memcpy(output, row, static_cast<std::size_t>(width) * sizeof(float)); break;
    case InputForm::rounded_float32: write_rounded(row, width, reinterpret_cast<float*>(output)); break;
    case InputForm::dequantized_float32: write_dequantized(row, width, reinterpret_cast<float*>(output)); break;
    case InputForm::bfloat16: write_bfloat16(row, width, reinterpret_cast<std::uint16_t*>(output)); break;
    case InputForm::uint8: return quantize(row, width, 128, reinterpret_cast<std::uint8_t*>(output));
    case InputForm::int8: return quantize(row, width, 0, reinterpret_cast<std::int8_t*>(output));
    case InputForm::int16: return quantize(row, width, 0, reinterpret_cast<std::int16_t*>(output));
  }
  return 1.0f;
}

bool is_exact_in_bfloat16(const float* HWY_RESTRICT row, int width) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  auto lost = hn::Zero(du);
  for_each_vector(d, width, [&](int i, int count) HWY_ATTR {
    lost = hn::Or(lost, hn::And(hn::BitCast(du, load_some(d, row + i, count)), hn::Set(du, 0xFFFF)));
  });
  return hn::AllTrue(du, hn::Eq(lost, hn::Zero(du)));
}

bool is_exact_in_float16(const float* HWY_RESTRICT row, int width) {
  const D d;
  const hn::Rebind<hwy::float16_t, D> d16;
  bool fit = true;
  for_each_vector(d, width, [&](int i, int count) HWY_ATTR {
    const auto x = load_some(d, row + i, count);
    fit = fit && hn::AllTrue(d, hn::Eq(hn::PromoteTo(d, hn::DemoteTo(d16, x)), x));
  });
  return fit;
}

void write_float16(const float* HWY_RESTRICT row, int width, std::uint16_t* HWY_RESTRICT output) {
  const D d;
  const hn::Rebind<hwy::float16_t, D> d16;
  for_each_vector(d, width, [&](int i, int count) HWY_ATTR {
    const auto half = hn::DemoteTo(d16, load_some(d, row + i, count));
    store_some(half, d16, reinterpret_cast<hwy::float16_t*>(output) + i, count);
  });
}

// Quantises with `factor`. If it is 0, or if a weight would round to more than 127, computes a factor from the row.
float quantize_int8(const float* row, int width, float factor, std::int8_t* output) {
  if (factor == 0.0f || !(largest_magnitude(row, width) * factor < kLevels + 0.5f)) {
    return quantize(row, width, 0, output);
  }
  write_quantized(row, width, factor, 0, output);
  return 1.0f / factor;
}

// Quantises a block of weights q, which are scaled but not yet rounded. Tries each step for which the weight of largest
// magnitude is -9.5 to -6.5 steps before it is clamped to -8. Uses the step with the least squared error.
std::int8_t quantize_block(const float* HWY_RESTRICT q, std::uint8_t* HWY_RESTRICT codes) {
  // Use 8 partial sums of errors in any number of vectors, so that all CPUs add in the same order.
  const hn::CappedTag<float, 8> d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d)), kAccumulators = 8 / kLanes;
  const float largest = largest_magnitude(q, kNibbleBlock);
  const bool is_negative = std::find(q, q + kNibbleBlock, -largest) != q + kNibbleBlock;
  const int first = std::clamp(static_cast<int>(std::ceil(largest / 9.5f)), 1, kMaxNibbleStep);
  const int last = std::clamp(static_cast<int>(largest / 6.5f), first, kMaxNibbleStep);
  float least = std::numeric_limits<float>::infinity();
  std::int8_t best = 0;
  const auto level = [&](hn::Vec<decltype(d)> x, hn::Vec<decltype(d)> inverse) HWY_ATTR {
    return hn::Clamp(hn::Round(hn::Mul(x, inverse)), hn::Set(d, -8.0f), hn::Set(d, 7.0f));
  };
  for (int size = first; size <= last; ++size) {
    const int step = is_negative ? size : -size;
    const auto width = hn::Set(d, static_cast<float>(step)), inverse = hn::Set(d, 1.0f / static_cast<float>(step));
    hn::Vec<decltype(d)> errors[kAccumulators];
    ENCDEC_UNROLL
    for (int i = 0; i < kNibbleBlock / kLanes; ++i) {
      const auto x = hn::Load(d, q + i * kLanes);
      const auto lost = hn::Sub(x, hn::Mul(level(x, inverse), width));
      const auto square = hn::Mul(lost, lost);
      errors[i % kAccumulators] = i < kAccumulators ? square : hn::Add(errors[i % kAccumulators], square);
    }
    for (int sums = kAccumulators / 2; sums > 0; sums /= 2) {
      for (int i = 0; i < sums; ++i) errors[i] = hn::Add(errors[i], errors[i + sums]);
    }
    const float error = sum_of_lanes(d, errors[0]);
    if (error < least) {
      least = error;
      best = static_cast<std::int8_t>(step);
    }
  }
  // Write the codes for the best step.
  HWY_ALIGN std::int32_t levels[kNibbleBlock];
  const auto inverse = hn::Set(d, 1.0f / static_cast<float>(best));
  for (int i = 0; i < kNibbleBlock; i += kLanes) {
    hn::Store(hn::NearestInt(level(hn::Load(d, q + i), inverse)), hn::RebindToSigned<decltype(d)>(), levels + i);
  }
  for (int i = 0; i < kNibbleBlock; ++i) codes[i] = static_cast<std::uint8_t>(levels[i] + 8);
  return best;
}

float quantize_row(const float* HWY_RESTRICT row, int width, std::uint8_t* HWY_RESTRICT codes,
                   std::int8_t* HWY_RESTRICT steps) {
  constexpr float kLowest = 8.0f * kMaxNibbleStep;
  const float largest = largest_magnitude(row, width);
  const float factor = largest >= kSmallestScaled ? kLowest / largest : 0.0f;
  // Scale the row to a largest magnitude of 120 = 8 * kMaxNibbleStep, and quantise each block.
  for (int first = 0; first < width; first += kNibbleBlock, codes += kNibbleBlock) {
    HWY_ALIGN float q[kNibbleBlock] = {};
    const int count = factor == 0.0f ? 0 : std::min(kNibbleBlock, width - first);
    for (int i = 0; i < count; ++i) q[i] = row[first + i] * factor;
    *steps++ = quantize_block(q, codes);
  }
  return factor == 0.0f ? scaling_of(row, width).scale : largest / kLowest;
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace encdec::kernels {

HWY_EXPORT(convert);
HWY_EXPORT(quantize_int8);
HWY_EXPORT(quantize_row);
HWY_EXPORT(is_exact_in_bfloat16);
HWY_EXPORT(is_exact_in_float16);
HWY_EXPORT(write_float16);

std::size_t element_bytes(InputForm form) {
  switch (form) {
    case InputForm::float32:
    case InputForm::rounded_float32:
    case InputForm::dequantized_float32: return 4;
    case InputForm::bfloat16:
    case InputForm::int16: return 2;
    case InputForm::uint8:
    case InputForm::int8: return 1;
  }
  return 4;
}

float convert_row(InputForm form, const float* row, int width, std::byte* output) {
  return HWY_DYNAMIC_DISPATCH(convert)(form, row, width, output);
}

bool are_exact_in_bfloat16(const float* row, int width) {
  return HWY_DYNAMIC_DISPATCH(is_exact_in_bfloat16)(row, width);
}

bool are_exact_in_float16(const float* row, int width) {
  return HWY_DYNAMIC_DISPATCH(is_exact_in_float16)(row, width);
}

void convert_to_float16(const float* row, int width, std::uint16_t* output) {
  HWY_DYNAMIC_DISPATCH(write_float16)(row, width, output);
}

float quantize_weights(const float* row, int width, float factor, std::int8_t* output) {
  return HWY_DYNAMIC_DISPATCH(quantize_int8)(row, width, factor, output);
}

float quantize_nibbles(const float* row, int width, std::uint8_t* codes, std::int8_t* steps) {
  return HWY_DYNAMIC_DISPATCH(quantize_row)(row, width, codes, steps);
}

}  // namespace encdec::kernels
#endif
