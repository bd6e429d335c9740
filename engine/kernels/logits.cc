#include "encdec/engine/kernels/logits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encdec/engine/kernels/logits.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per instruction set
#include <hwy/highway.h>
// Include these headers after highway.h.
#include "encdec/engine/kernels/functions_inl.h"
#include "encdec/engine/kernels/vectors_inl.h"

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr float kLowest = -std::numeric_limits<float>::infinity();

// Number of scores that are processed together. They fit the L1 cache.
constexpr std::size_t kBlock = 1024;

// Returns the largest score, ignoring NaN. Returns -infinity if no score is above -infinity.
float largest(const float* HWY_RESTRICT scores, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  // If `candidate` is NaN, the comparison is false, and `maximum` is kept.
  const auto larger = [d](const float* score, auto maximum) HWY_ATTR {
    const auto candidate = hn::LoadU(d, score);
    return hn::IfThenElse(hn::Gt(candidate, maximum), candidate, maximum);
  };
  auto a = hn::Set(d, kLowest), b = a, c = a, e = a;
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    a = larger(scores + i, a);
    b = larger(scores + i + lanes, b);
    c = larger(scores + i + 2 * lanes, c);
    e = larger(scores + i + 3 * lanes, e);
  }
  for (; i + lanes <= count; i += lanes) a = larger(scores + i, a);
  float result = hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(a, b), hn::Max(c, e))));
  for (; i < count; ++i) result = scores[i] > result ? scores[i] : result;
  return result;
}

float exp_of_one(float x) {
  const hn::CappedTag<float, 1> one;
  return hn::GetLane(exp_of_nonpositive(one, hn::Set(one, x)));
}

// Passes over the scores once, block by block. When a block has a larger maximum, rescales the previous sum to it.
float log_sum_exp_of(const float* HWY_RESTRICT scores, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  float maximum = kLowest;
  auto sums = hn::Zero(d);
  float rest = 0.0f;  // sum over the last scores, which do not fill a vector
  for (std::size_t first = 0; first < count; first += kBlock) {
    const std::size_t end = std::min(count, first + kBlock);
    if (const float here = largest(scores + first, end - first); here > maximum) {
      sums = hn::Mul(sums, hn::Set(d, exp_of_one(maximum - here)));
      maximum = here;
    }
    // Skip the block if all scores up to its end are -infinity (banned tokens): exp(-infinity - maximum) would be NaN.
    if (maximum == kLowest) {
      const float* other = std::find_if(scores + first, scores + end, [](float score) { return score != kLowest; });
      if (other != scores + end) return *other;  // `other` is NaN, because it is neither -infinity nor above it
      continue;
    }
    const auto maxima = hn::Set(d, maximum);
    std::size_t i = first;
    for (; i + lanes <= end; i += lanes) {
      sums = hn::Add(sums, exp_of_nonpositive(d, hn::Sub(hn::LoadU(d, scores + i), maxima)));
    }
    for (; i < end; ++i) rest += exp_of_one(scores[i] - maximum);
  }
  if (maximum == kLowest) return kLowest;
  return maximum + std::log(sum_of_lanes(d, sums) + rest);
}

// First finds the block with the largest score, then the first score in the block that equals the maximum.
std::int32_t arg_max_of(const float* HWY_RESTRICT scores, std::size_t count) {
  float maximum = kLowest;
  std::size_t block = 0;  // first block with the maximum
  for (std::size_t first = 0; first < count; first += kBlock) {
    const float here = largest(scores + first, std::min(kBlock, count - first));
    if (here > maximum) maximum = here, block = first;
  }
  if (maximum == kLowest) return -1;
  const hn::ScalableTag<float> d;
  const auto maxima = hn::Set(d, maximum);
  std::size_t i = block;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    if (!hn::AllFalse(d, hn::Eq(hn::LoadU(d, scores + i), maxima))) break;
  }
  while (scores[i] != maximum) ++i;
  return static_cast<std::int32_t>(i);
}

// Keeps the best indices in a heap, whose front is the worst of them. Skips whole vectors if none of their scores is
// larger than the score of the front.
void top_k_of(const float* HWY_RESTRICT scores, std::size_t size, int count, std::vector<std::int32_t>& best) {
  const auto limit = static_cast<std::size_t>(std::max(count, 0));
  const auto is_better = [scores](std::int32_t a, std::int32_t b) {
    return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
  };
  best.clear();
  if (limit == 0) return;
  float threshold = kLowest;  // a new score must be larger
  // Adds index i if its score is above the threshold. If the heap is full, first removes the worst index.
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
  const auto is_above = [&](std::size_t i) HWY_ATTR { return hn::Gt(hn::LoadU(d, scores + i), hn::Set(d, threshold)); };
  std::size_t i = 0;
  for (; i + 4 * lanes <= size; i += 4 * lanes) {
    const auto any =
        hn::Or(hn::Or(is_above(i), is_above(i + lanes)), hn::Or(is_above(i + 2 * lanes), is_above(i + 3 * lanes)));
    if (hn::AllFalse(d, any)) continue;
    for (std::size_t j = i; j < i + 4 * lanes; j += lanes) {
      if (hn::AllFalse(d, is_above(j))) continue;
      for (std::size_t lane = 0; lane < lanes; ++lane) consider(j + lane);
    }
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
