#include "encdec/engine/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encdec/engine/kernels/attention.cc"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>
// after highway.h
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

constexpr int kKeysAtOnce = 4;
constexpr int kChunksAtOnce = 4;  // vectors of a value row that are summed together
// Queries that share each load of a key or value; as many as the registers hold accumulators for.
constexpr int kQueriesAtOnce = HWY_TARGET <= HWY_AVX3 ? 4 : 2;

// Sums of the lanes of four vectors, as the first four floats of `sums`. Always the same tree of additions.
HWY_INLINE void sum_lanes(D d, V a, V b, V c, V e, float* HWY_RESTRICT sums) {
#if HWY_TARGET == HWY_SCALAR
  sums[0] = hn::GetLane(a), sums[1] = hn::GetLane(b), sums[2] = hn::GetLane(c), sums[3] = hn::GetLane(e);
  (void)d;
#else
  const hn::Repartition<double, D> pairs;
  const V ab = hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));  // a02 b02 a13 b13 per 128 bits
  const V ce = hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e));
  const auto ab_pairs = hn::BitCast(pairs, ab), ce_pairs = hn::BitCast(pairs, ce);
  const V blocks = hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, ab_pairs, ce_pairs)),
                           hn::BitCast(d, hn::InterleaveUpper(pairs, ab_pairs, ce_pairs)));  // a b c e per 128 bits
  const hn::FixedTag<float, 4> block;
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(blocks, d, lanes);
  auto total = hn::Load(block, lanes);
  for (std::size_t i = 4; i < hn::Lanes(d); i += 4) total = hn::Add(total, hn::Load(block, lanes + i));
  hn::StoreU(total, block, sums);
#endif
}

// scores[q * stride + j] = scale * <query q, key j> for four keys.
template <int kQueries>
HWY_INLINE void score_four_keys(const HeadAttention& head, const float* HWY_RESTRICT const* queries,
                                const float* HWY_RESTRICT const* keys, float* HWY_RESTRICT scores, std::size_t stride) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  V sums[kQueries][kKeysAtOnce];
  for (auto& row : sums) std::fill(std::begin(row), std::end(row), hn::Zero(d));
  int i = 0;
  for (; i + lanes <= head.head_dim; i += lanes) {
    V key[kKeysAtOnce];
    for (int k = 0; k < kKeysAtOnce; ++k) key[k] = hn::LoadU(d, keys[k] + i);
    for (int q = 0; q < kQueries; ++q) {
      const V query = hn::LoadU(d, queries[q] + i);
      for (int k = 0; k < kKeysAtOnce; ++k) sums[q][k] = hn::MulAdd(query, key[k], sums[q][k]);
    }
  }
  for (int q = 0; q < kQueries; ++q) {
    float* HWY_RESTRICT row = scores + static_cast<std::size_t>(q) * stride;
    sum_lanes(d, sums[q][0], sums[q][1], sums[q][2], sums[q][3], row);
    for (int k = 0; k < kKeysAtOnce; ++k) {
      for (int j = i; j < head.head_dim; ++j) row[k] += queries[q][j] * keys[k][j];
      row[k] *= head.scale;
    }
  }
}

// scores[j] += bias of the distance from `position` to j, for j in [0, key_count).
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

// Turns `count` scores into exp(score - max), padded with zeros to whole vectors; returns one over their sum.
HWY_INLINE float exponentials(float* HWY_RESTRICT scores, int count) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int padded = (count + lanes - 1) / lanes * lanes;
  std::fill(scores + count, scores + padded, -std::numeric_limits<float>::infinity());
  V maximum = hn::Set(d, -std::numeric_limits<float>::infinity());
  for (int j = 0; j < padded; j += lanes) maximum = hn::Max(maximum, hn::LoadU(d, scores + j));
  maximum = hn::MaxOfLanes(d, maximum);
  V sum = hn::Zero(d);
  for (int j = 0; j < padded; j += lanes) {
    const V weight = hn::Exp(d, hn::Sub(hn::LoadU(d, scores + j), maximum));
    hn::StoreU(weight, d, scores + j);
    sum = hn::Add(sum, weight);
  }
  return 1.0f / hn::GetLane(hn::SumOfLanes(d, sum));
}

// outputs[q] = normalizers[q] * sum_j weights[q * stride + j] * value_j
template <int kQueries>
HWY_INLINE void weigh_values(const HeadAttention& head, int key_count, const float* HWY_RESTRICT weights,
                             std::size_t stride, const float* normalizers, float* HWY_RESTRICT const* outputs) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  int i = 0;
  const auto sum_chunks = [&](auto chunk_count) HWY_ATTR {
    constexpr int kChunks = decltype(chunk_count)::value;
    V sums[kQueries][kChunks];
    for (auto& row : sums) std::fill(std::begin(row), std::end(row), hn::Zero(d));
    for (int j = 0; j < key_count; ++j) {
      const float* HWY_RESTRICT value = head.values.row(j) + i;
      V chunk[kChunks];
      for (int c = 0; c < kChunks; ++c) chunk[c] = hn::LoadU(d, value + c * lanes);
      for (int q = 0; q < kQueries; ++q) {
        const V weight = hn::Set(d, weights[static_cast<std::size_t>(q) * stride + static_cast<std::size_t>(j)]);
        for (int c = 0; c < kChunks; ++c) sums[q][c] = hn::MulAdd(weight, chunk[c], sums[q][c]);
      }
    }
    for (int q = 0; q < kQueries; ++q) {
      for (int c = 0; c < kChunks; ++c) {
        hn::StoreU(hn::Mul(sums[q][c], hn::Set(d, normalizers[q])), d, outputs[q] + i + c * lanes);
      }
    }
    i += kChunks * lanes;
  };
  while (i + kChunksAtOnce * lanes <= head.head_dim) sum_chunks(std::integral_constant<int, kChunksAtOnce>());
  while (i + lanes <= head.head_dim) sum_chunks(std::integral_constant<int, 1>());
  for (; i < head.head_dim; ++i) {
    for (int q = 0; q < kQueries; ++q) {
      float sum = 0.0f;
      for (int j = 0; j < key_count; ++j) {
        sum += weights[static_cast<std::size_t>(q) * stride + static_cast<std::size_t>(j)] * head.values.row(j)[i];
      }
      outputs[q][i] = sum * normalizers[q];
    }
  }
}

template <int kQueries>
HWY_INLINE void attend_queries(const HeadAttention& head, int first, int key_count, float* HWY_RESTRICT scratch) {
  const std::size_t stride = attention_scratch(key_count) / 4;  // room for four queries
  const float* queries[kQueries];
  float* outputs[kQueries];
  float normalizers[kQueries];
  for (int q = 0; q < kQueries; ++q) {
    queries[q] = head.query + (first + q) * head.query_stride;
    outputs[q] = head.output + (first + q) * head.output_stride;
  }
  for (int j = 0; j < key_count; j += kKeysAtOnce) {
    const float* keys[kKeysAtOnce];
    for (int k = 0; k < kKeysAtOnce; ++k) keys[k] = head.keys.row(std::min(j + k, key_count - 1));
    score_four_keys<kQueries>(head, queries, keys, scratch + j, stride);
  }
  for (int q = 0; q < kQueries; ++q) {
    float* HWY_RESTRICT scores = scratch + static_cast<std::size_t>(q) * stride;
    if (head.relative_bias != nullptr) {
      add_relative_bias(head, head.key_count - head.query_count + first + q, key_count, scores);
    }
    normalizers[q] = exponentials(scores, key_count);
    if (head.weights != nullptr) {
      float* weights = head.weights + static_cast<std::ptrdiff_t>(first + q) * head.key_count;
      for (int j = 0; j < key_count; ++j) weights[j] = scores[j] * normalizers[q];
    }
  }
  weigh_values<kQueries>(head, key_count, scratch, stride, normalizers, outputs);
}

void attend_head(const HeadAttention& head, float* scratch) {
  for (int i = 0; i < head.query_count;) {
    const int key_count = head.causal ? head.key_count - (head.query_count - 1 - i) : head.key_count;
    if (key_count <= 0) {
      std::fill_n(head.output + i * head.output_stride, head.head_dim, 0.0f);
      ++i;
    } else if (!head.causal && i + kQueriesAtOnce <= head.query_count) {
      attend_queries<kQueriesAtOnce>(head, i, key_count, scratch);
      i += kQueriesAtOnce;
    } else {
      attend_queries<1>(head, i, key_count, scratch);
      ++i;
    }
  }
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace encdec::kernels {

HWY_EXPORT(attend_head);

std::size_t attention_scratch(int key_count) {
  constexpr std::size_t kWidestVector = 64;  // floats, wider than any that is dispatched to
  const std::size_t row = (static_cast<std::size_t>(key_count) / kWidestVector + 1) * kWidestVector;
  return 4 * row;
}

void attend(const HeadAttention& head, float* scratch) {
  HWY_DYNAMIC_DISPATCH(attend_head)(head, scratch);
}

}  // namespace encdec::kernels
#endif
