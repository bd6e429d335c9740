#include "encdec/engine/kernels/normalization.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encdec/engine/kernels/normalization.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per instruction set
#include <hwy/highway.h>
// Include this header after highway.h.
#include "encdec/engine/kernels/vectors_inl.h"

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// output = input + residual; `residual` may be null.
void add_residual(const float* input, const float* residual, int width, float* output) {
  const hn::ScalableTag<float> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  int i = 0;
  for (; i + lanes <= width; i += lanes) {
    const auto x = hn::LoadU(d, input + i);
    hn::StoreU(residual != nullptr ? hn::Add(x, hn::LoadU(d, residual + i)) : x, d, output + i);
  }
  for (; i < width; ++i) output[i] = residual != nullptr ? input[i] + residual[i] : input[i];
}

float sum_of(const float* HWY_RESTRICT values, int width) {
  const hn::ScalableTag<float> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  auto sums = hn::Zero(d);
  int i = 0;
  for (; i + lanes <= width; i += lanes) sums = hn::Add(sums, hn::LoadU(d, values + i));
  float sum = sum_of_lanes(d, sums);
  for (; i < width; ++i) sum += values[i];
  return sum;
}

// Returns the sum of (x - mean)^2; sum(x^2) - width * mean^2 would lose digits for a large mean.
float sum_of_squares(const float* HWY_RESTRICT values, float mean, int width) {
  const hn::ScalableTag<float> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto means = hn::Set(d, mean);
  auto squares = hn::Zero(d);
  int i = 0;
  for (; i + lanes <= width; i += lanes) {
    const auto deviation = hn::Sub(hn::LoadU(d, values + i), means);
    squares = hn::MulAdd(deviation, deviation, squares);
  }
  float square = sum_of_lanes(d, squares);
  for (; i < width; ++i) square += (values[i] - mean) * (values[i] - mean);
  return square;
}

void layer_norm_row(const NormRow& row) {
  const int width = row.width;
  float* output = row.output;
  const float* HWY_RESTRICT scale = row.scale;
  const float* HWY_RESTRICT shift = row.shift;
  const hn::ScalableTag<float> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  add_residual(row.input, row.residual, width, output);
  // Compute the mean in a first pass, then the variance in a second pass.
  const float mean = sum_of(output, width) / static_cast<float>(width);
  const float variance = sum_of_squares(output, mean, width) / static_cast<float>(width);
  const float factor = 1.0f / std::sqrt(variance + row.epsilon);
  const auto means = hn::Set(d, mean), factors = hn::Set(d, factor);
  int i = 0;
  for (; i + lanes <= width; i += lanes) {
    const auto normalized = hn::Mul(hn::Sub(hn::LoadU(d, output + i), means), factors);
    hn::StoreU(hn::MulAdd(normalized, hn::LoadU(d, scale + i), hn::LoadU(d, shift + i)), d, output + i);
  }
  for (; i < width; ++i) output[i] = (output[i] - mean) * factor * scale[i] + shift[i];
  if (row.added != nullptr) add_residual(output, row.added, width, output);
}

void rms_norm_row(const NormRow& row) {
  const int width = row.width;
  float* output = row.output;
  const float* HWY_RESTRICT scale = row.scale;
  const hn::ScalableTag<float> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  add_residual(row.input, row.residual, width, output);
  const float factor = 1.0f / std::sqrt(sum_of_squares(output, 0.0f, width) / static_cast<float>(width) + row.epsilon);
  const auto factors = hn::Set(d, factor);
  int i = 0;
  for (; i + lanes <= width; i += lanes) {
    const auto normalized = hn::Mul(hn::LoadU(d, output + i), factors);
    hn::StoreU(hn::Mul(normalized, hn::LoadU(d, scale + i)), d, output + i);
  }
  for (; i < width; ++i) output[i] = output[i] * factor * scale[i];
  if (row.added != nullptr) add_residual(output, row.added, width, output);
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace encdec::kernels {

HWY_EXPORT(layer_norm_row);
HWY_EXPORT(rms_norm_row);

void layer_norm(const NormRow& row) {
  HWY_DYNAMIC_DISPATCH(layer_norm_row)(row);
}

void rms_norm(const NormRow& row) {
  HWY_DYNAMIC_DISPATCH(rms_norm_row)(row);
}

}  // namespace encdec::kernels
#endif
