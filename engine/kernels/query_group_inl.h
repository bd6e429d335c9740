// Steps of attention shared by the kernels for few and for many queries. Include after highway.h,
// outside all namespaces; Highway compiles this file once per instruction set.
#if defined(ENCDEC_ENGINE_KERNELS_QUERY_GROUP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ENCDEC_ENGINE_KERNELS_QUERY_GROUP_INL_H_
#undef ENCDEC_ENGINE_KERNELS_QUERY_GROUP_INL_H_
#else
#define ENCDEC_ENGINE_KERNELS_QUERY_GROUP_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "encdec/engine/kernels/attention.h"
#include "encdec/engine/kernels/functions_inl.h"
#include "encdec/engine/kernels/vectors_inl.h"

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));

HWY_INLINE float as_float(float x) {
  return x;
}
HWY_INLINE float as_float(std::uint16_t x) {
  float value;
  const std::uint32_t bits = static_cast<std::uint32_t>(x) << 16;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// Adds relative biases to scores[0, key_count). `position` is the query's, counted from key 0.
HWY_INLINE void add_relative_bias(const HeadAttention& head, int position, int key_count, float* HWY_RESTRICT scores) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int near = std::clamp(position - head.bias_reach, 0, key_count);
  const int far = std::clamp(position + head.bias_reach + 1, 0, key_count);
  for (int j = 0; j < near; ++j) scores[j] += head.relative_bias[-head.bias_reach];
  int j = near;
  for (; j + lanes <= far; j += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, scores + j), hn::LoadU(d, head.relative_bias + (j - position))), d, scores + j);
  }
  for (; j < far; ++j) scores[j] += head.relative_bias[j - position];
  for (; j < key_count; ++j) scores[j] += head.relative_bias[head.bias_reach];
}

// kQueries neighbouring queries, each of which sees a key. If there are fewer, the last query is repeated.
template <int kQueries>
struct QueryGroup {
  int first;
  int count;
  const float* queries[kQueries];
  KeyRange keys[kQueries];
  float normalizers[kQueries];

  HWY_INLINE QueryGroup(const HeadAttention& head, int first_query)
      : first(first_query), count(std::min(kQueries, head.query_count - first_query)) {
    for (int q = 0; q < kQueries; ++q) {
      const int i = first + std::min(q, count - 1);
      queries[q] = head.query + i * head.query_stride;
      keys[q] = keys_seen(head, i);
    }
  }
  // The keys that at least one query sees.
  int first_key() const { return keys[0].first; }
  int end_key() const { return keys[kQueries - 1].end; }
};

// Replaces scores by weights that are not normalised yet. Sets each query's normalizer: 1 / the sum of its weights.
// Writes the normalised weights to head.weights if it is set.
template <int kQueries>
HWY_INLINE void weigh_keys(const HeadAttention& head, float* HWY_RESTRICT scratch, std::size_t stride,
                           QueryGroup<kQueries>& group) {
  for (int q = 0; q < group.count; ++q) {
    const int i = group.first + q, first = group.keys[q].first, key_count = group.keys[q].count();
    float* HWY_RESTRICT scores = scratch + static_cast<std::size_t>(q) * stride + first;
    if (head.score_cap != 0) cap_values(head.score_cap, scores, key_count);
    if (head.relative_bias != nullptr) {
      add_relative_bias(head, head.position_of(i) - first, key_count, scores);
    }
    if (head.added_scores != nullptr) {
      const float* HWY_RESTRICT added = head.added_scores + static_cast<std::ptrdiff_t>(i) * head.key_count + first;
      for (int j = 0; j < key_count; ++j) scores[j] += added[j];
    }
    float maximum;
    group.normalizers[q] = exponentials(scores, key_count, maximum);
    if (head.log_sums != nullptr) head.log_sums[i * head.log_sums_stride] = maximum - std::log(group.normalizers[q]);
    if (head.weights != nullptr) {
      float* weights = head.weights + static_cast<std::ptrdiff_t>(i) * head.key_count + first;
      for (int j = 0; j < key_count; ++j) weights[j] = scores[j] * group.normalizers[q];
    }
  }
}

// output_q = normalizers[q] * sum_j weights[q * stride + j] * value_j, added in the order of j.
// `values` has row(j), and load_first(address, count) for the last columns of a row.
template <int kChunks, int kQueries, class Values>
HWY_INLINE void weigh_values(const HeadAttention& head, const Values& values, const float* HWY_RESTRICT weights,
                             std::size_t stride, const QueryGroup<kQueries>& group) {
  const D d;
  int i = 0;
  const auto sum_chunks = [&](auto chunk_count, const auto& read) HWY_ATTR {
    constexpr int kCount = decltype(chunk_count)::value;
    V sums[kQueries][kCount];
    for (auto& row : sums) std::fill(std::begin(row), std::end(row), hn::Zero(d));
    const auto add_value = [&](int j, const auto& sees) HWY_ATTR {
      const auto* HWY_RESTRICT value = values.row(j) + i;
      V chunk[kCount];
      for (int c = 0; c < kCount; ++c) chunk[c] = read(value + c * kLanes);
      for (int q = 0; q < kQueries; ++q) {
        if (!sees(q)) continue;
        const V weight = hn::Set(d, weights[static_cast<std::size_t>(q) * stride + static_cast<std::size_t>(j)]);
        for (int c = 0; c < kCount; ++c) sums[q][c] = hn::MulAdd(weight, chunk[c], sums[q][c]);
      }
    };
    const auto add_to_some = [&](KeyRange keys) HWY_ATTR {
      for (int j = keys.first; j < keys.end; ++j) {
        add_value(j, [&](int q) { return group.keys[q].first <= j && j < group.keys[q].end; });
      }
    };
    // The keys form three ranges: keys that some queries see, then keys that all see, then keys that some see.
    const int last_first = group.keys[kQueries - 1].first, first_end = group.keys[0].end;
    if constexpr (kQueries > 1) add_to_some({group.first_key(), last_first});
    for (int j = last_first; j < first_end; ++j) add_value(j, [](int) { return true; });
    if constexpr (kQueries > 1) add_to_some({std::max(last_first, first_end), group.end_key()});
    for (int q = 0; q < group.count; ++q) {
      float* output = head.output + (group.first + q) * head.output_stride + i;
      const V normalizer = hn::Set(d, group.normalizers[q]);
      for (int c = 0; c < kCount; ++c) {
        store_some(hn::Mul(sums[q][c], normalizer), d, output + c * kLanes, head.value_dim - i - c * kLanes);
      }
    }
    i += kCount * kLanes;
  };
  const auto load_all = [d](const auto* from) HWY_ATTR { return load(d, from); };
  while (i + kChunks * kLanes <= head.value_dim) sum_chunks(std::integral_constant<int, kChunks>(), load_all);
  while (i + kLanes <= head.value_dim) sum_chunks(std::integral_constant<int, 1>(), load_all);
  if (const int rest = head.value_dim - i; rest > 0) {
    sum_chunks(std::integral_constant<int, 1>(),
               [&](const auto* from) HWY_ATTR { return values.load_first(from, rest); });
  }
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
