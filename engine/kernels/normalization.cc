#include "encdec/engine/kernels/normalization.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encdec/engine/kernels/normalization.cc"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void layer_norm_row(const float* input, const float* residual, const float* HWY_RESTRICT scale,
                    const float* HWY_RESTRICT shift, float epsilon, int width, float* output) {
  const hn::ScalableTag<float> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int whole = width / lanes * lanes;

  // The sum of the row, while input + residual goes to the output.
  auto sums = hn::Zero(d);
  for (int i = 0; i < whole; i += lanes) {
    auto x = hn::LoadU(d, input + i);
    if (residual != nullptr) x = hn::Add(x, hn::LoadU(d, residual + i));
    hn::StoreU(x, d, output + i);
    sums = hn::Add(sums, x);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (int i = whole; i < width; ++i) {
    output[i] = residual != nullptr ? input[i] + residual[i] : input[i];
    sum += output[i];
  }
  const float mean = sum / static_cast<float>(width);

  // Deviations from the mean: sum(x^2) - mean^2 would cancel where the mean is large.
  auto squares = hn::Zero(d);
  const auto means = hn::Set(d, mean);
  for (int i = 0; i < whole; i += lanes) {
    const auto deviation = hn::Sub(hn::LoadU(d, output + i), means);
    squares = hn::MulAdd(deviation, deviation, squares);
  }
  float square = hn::GetLane(hn::SumOfLanes(d, squares));
  for (int i = whole; i < width; ++i) square += (output[i] - mean) * (output[i] - mean);
  const float factor = 1.0f / std::sqrt(square / static_cast<float>(width) + epsilon);

  const auto factors = hn::Set(d, factor);
  for (int i = 0; i < whole; i += lanes) {
    const auto normalized = hn::Mul(hn::Sub(hn::LoadU(d, output + i), means), factors);
    hn::StoreU(hn::MulAdd(normalized, hn::LoadU(d, scale + i), hn::LoadU(d, shift + i)), d, output + i);
  }
  for (int i = whole; i < width; ++i) output[i] = (output[i] - mean) * factor * scale[i] + shift[i];
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace encdec::kernels {

HWY_EXPORT(layer_norm_row);

void layer_norm(const float* input, const float* residual, const float* scale, const float* shift, float epsilon,
                int width, float* output) {
  HWY_DYNAMIC_DISPATCH(layer_norm_row)(input, residual, scale, shift, epsilon, width, output);
}

}  // namespace encdec::kernels
#endif
