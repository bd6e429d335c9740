#include "encdec/engine/kernels/vocabulary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encdec/engine/kernels/vocabulary.cc"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>
// after highway.h
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr float kLowest = -std::numeric_limits<float>::infinity();

float largest(const float* HWY_RESTRICT scores, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  auto maximum = hn::Set(d, kLowest);
  std::size_t i = 0;
  // The score comes first: where it is not a number, comparisons are false and the maximum so far stays.
  for (; i + lanes <= count; i += lanes) {
    const auto score = hn::LoadU(d, scores + i);
    maximum = hn::IfThenElse(hn::Gt(score, maximum), score, maximum);
  }
  float result = hn::GetLane(hn::MaxOfLanes(d, maximum));
  for (; i < count; ++i) result = scores[i] > result ? scores[i] : result;
  return result;
}

float log_sum_exp_of(const float* HWY_RESTRICT scores, std::size_t count) {
  const float maximum = largest(scores, count);
  if (maximum == kLowest) {
    const float* other = std::find_if(scores, scores + count, [](float score) { return score != kLowest; });
    return other == scores + count ? kLowest : *other;  // NaN: nothing else is neither -infinity nor above it
  }
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto maxima = hn::Set(d, maximum);
  auto sums = hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto difference = hn::Sub(hn::LoadU(d, scores + i), maxima);
    // Highway's Exp makes 0 of NaN.
    sums = hn::Add(sums, hn::IfThenElse(hn::IsNaN(difference), difference, hn::Exp(d, difference)));
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < count; ++i) sum += std::exp(scores[i] - maximum);
  return maximum + std::log(sum);
}

std::int32_t arg_max_of(const float* HWY_RESTRICT scores, std::size_t count) {
  const float maximum = largest(scores, count);
  if (maximum == kLowest) return -1;
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto maxima = hn::Set(d, maximum);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto equal = hn::Eq(hn::LoadU(d, scores + i), maxima);
    if (!hn::AllFalse(d, equal)) break;
  }
  while (scores[i] != maximum) ++i;
  return static_cast<std::int32_t>(i);
}

// Keeps the best indices so far as a heap with the worst of them at its front; whole vectors of scores that do not beat
// that one are passed over.
void top_k_of(const float* HWY_RESTRICT scores, std::size_t size, int count, std::vector<std::int32_t>& best) {
  const auto limit = static_cast<std::size_t>(std::max(count, 0));
  const auto is_better = [scores](std::int32_t a, std::int32_t b) {
    return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
  };
  best.clear();
  if (limit == 0) return;
  float threshold = kLowest;  // what a score must be above
  const auto consider = [&](std::size_t i) {
    if (!(scores[i] > threshold)) return;
    if (best.size() == limit) {
      std::pop_heap(best.begin(), best.end(), is_better);
      best.pop_back();
    }
    best.push_back(static_cast<std::int32_t>(i));
    std::push_heap(best.begin(), best.end(), is_better);
    if (best.size() == limit) threshold = scores[best.front()];
  };
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    if (hn::AllFalse(d, hn::Gt(hn::LoadU(d, scores + i), hn::Set(d, threshold)))) continue;
    for (std::size_t lane = 0; lane < lanes; ++lane) consider(i + lane);
  }
  for (; i < size; ++i) consider(i);
  std::sort_heap(best.begin(), best.end(), is_better);
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace encdec::kernels {

HWY_EXPORT(log_sum_exp_of);
HWY_EXPORT(arg_max_of);
HWY_EXPORT(top_k_of);

float log_sum_exp(std::span<const float> scores) {
  return HWY_DYNAMIC_DISPATCH(log_sum_exp_of)(scores.data(), scores.size());
}

std::int32_t arg_max(std::span<const float> scores) {
  return HWY_DYNAMIC_DISPATCH(arg_max_of)(scores.data(), scores.size());
}

void top_k(std::span<const float> scores, int count, std::vector<std::int32_t>& indices) {
  HWY_DYNAMIC_DISPATCH(top_k_of)(scores.data(), scores.size(), count, indices);
}

}  // namespace encdec::kernels
#endif
