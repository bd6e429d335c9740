#include "encdec/layers/lessons/dense/attention_kernel.h"

#include <algorithm>
#include <iterator>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encdec/layers/lessons/dense/attention_kernel.cc"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>
// after highway.h
#include "encdec/engine/kernels/dot_products_inl.h"
#include "encdec/engine/kernels/functions_inl.h"
#include "encdec/engine/kernels/vectors_inl.h"

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));

// Number of queries that share each load of keys or values.
constexpr int kQueriesAtOnce = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
constexpr int kChunksAtOnce = 4;  // vectors of a value that are summed together

// Calls body(first, n) for groups of n = kAtOnce items, then for single items with n = 1. `n` is an integral_constant.
template <int kAtOnce, class Body>
HWY_INLINE void in_groups(int count, const Body& body) {
  int i = 0;
  for (; i + kAtOnce <= count; i += kAtOnce) body(i, std::integral_constant<int, kAtOnce>());
  for (; i < count; ++i) body(i, std::integral_constant<int, 1>());
}

// Calls tile(keys, store) for each four keys. `keys` are four addresses; the last key fills missing places. The tile
// calls store(query, sums) to write the four sums of a query to its scores; sums of missing keys are dropped.
template <class Tile>
HWY_INLINE void for_four_keys(const ScoredRows& rows, const Tile& tile) {
  for (int first = 0; first < rows.key_count; first += kKeysAtOnce) {
    const float* keys[kKeysAtOnce];
    for (int k = 0; k < kKeysAtOnce; ++k) {
      keys[k] = rows.keys + static_cast<std::ptrdiff_t>(std::min(first + k, rows.key_count - 1)) * rows.width;
    }
    const int count = std::min(kKeysAtOnce, rows.key_count - first);
    tile(keys, [&, count](int query, const float* sums) {
      std::copy_n(sums, count, rows.scores + query * rows.scores_stride + first);
    });
  }
}

void dot_product_scores_of(const ScoredRows& rows, float divisor) {
  in_groups<kQueriesAtOnce>(rows.query_count, [&](int query, auto query_count) HWY_ATTR {
    constexpr int kQueries = decltype(query_count)::value;
    const float* queries[kQueries];
    for (int q = 0; q < kQueries; ++q) queries[q] = rows.queries + static_cast<std::ptrdiff_t>(query + q) * rows.width;
    for_four_keys(rows, [&](const float* const* keys, const auto& store) HWY_ATTR {
      float products[kQueries * kKeysAtOnce];
      multiply_four_keys<kQueries>(queries, keys, rows.width, products, kKeysAtOnce);
      for (float& product : products) product /= divisor;
      for (int q = 0; q < kQueries; ++q) store(query + q, products + q * kKeysAtOnce);
    });
  });
}

void additive_scores_of(const ScoredRows& rows, const float* weights, float bias) {
  const D d;
  for (int query = 0; query < rows.query_count; ++query) {
    const float* HWY_RESTRICT q = rows.queries + static_cast<std::ptrdiff_t>(query) * rows.width;
    for_four_keys(rows, [&](const float* const* keys, const auto& store) HWY_ATTR {
      V sums[kKeysAtOnce];
      std::fill(std::begin(sums), std::end(sums), hn::Zero(d));
      for_each_vector(d, rows.width, [&](int i, int count) HWY_ATTR {
        // Beyond the row the weight is zero, so the values of the other operands there do not matter.
        const V weight = load_some(d, weights + i, count);
        const V compared = load_some(d, q + i, count);
        for (int k = 0; k < kKeysAtOnce; ++k) {
          const V sum = hn::Add(compared, load_some(d, keys[k] + i, count));
          sums[k] = hn::MulAdd(weight, activate(Activation::tanh, d, sum), sums[k]);
        }
      });
      float scores[kKeysAtOnce];
      sum_lanes(d, sums[0], sums[1], sums[2], sums[3], scores);
      for (float& score : scores) score += bias;
      store(query, scores);
    });
  }
}

// Computes `count` columns from `column` on, for kQueries queries from `query` on.
template <int kQueries, int kChunks, class Read>
HWY_INLINE void weighted_sum_tile(const WeighedRows& rows, int query, int column, int count, const Read& read) {
  const float* HWY_RESTRICT weights = rows.weights + query * rows.weights_stride;
  const float* HWY_RESTRICT value = rows.values + column;
  V sums[kQueries][kChunks];
  for (auto& row : sums) std::fill(std::begin(row), std::end(row), hn::Zero(D()));
  for (int j = 0; j < rows.value_count; ++j, value += rows.width) {
    V chunk[kChunks];
    for (int c = 0; c < kChunks; ++c) chunk[c] = read(value + c * kLanes);
    for (int m = 0; m < kQueries; ++m) {
      const V weight = hn::Set(D(), weights[m * rows.weights_stride + j]);
      for (int c = 0; c < kChunks; ++c) sums[m][c] = hn::MulAdd(weight, chunk[c], sums[m][c]);
    }
  }
  for (int m = 0; m < kQueries; ++m) {
    float* output = rows.output + static_cast<std::ptrdiff_t>(query + m) * rows.width + column;
    for (int c = 0; c < kChunks; ++c) store_some(sums[m][c], D(), output + c * kLanes, count - c * kLanes);
  }
}

void weighted_sum_of(const WeighedRows& rows) {
  in_groups<kQueriesAtOnce>(rows.query_count, [&](int query, auto queries) HWY_ATTR {
    constexpr int kQueries = decltype(queries)::value;
    const auto load_all = [](const float* from) HWY_ATTR { return hn::LoadU(D(), from); };
    constexpr int kStep = kChunksAtOnce * kLanes;
    int i = 0;
    for (; i + kStep <= rows.width; i += kStep) {
      weighted_sum_tile<kQueries, kChunksAtOnce>(rows, query, i, kStep, load_all);
    }
    for (; i + kLanes <= rows.width; i += kLanes) weighted_sum_tile<kQueries, 1>(rows, query, i, kLanes, load_all);
    if (const int rest = rows.width - i; rest > 0) {
      weighted_sum_tile<kQueries, 1>(rows, query, i, rest,
                                     [rest](const float* from) HWY_ATTR { return load_some(D(), from, rest); });
    }
  });
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace encdec::kernels {

HWY_EXPORT(dot_product_scores_of);
HWY_EXPORT(additive_scores_of);
HWY_EXPORT(weighted_sum_of);

void dot_product_scores(const ScoredRows& rows, float divisor) {
  HWY_DYNAMIC_DISPATCH(dot_product_scores_of)(rows, divisor);
}

void additive_scores(const ScoredRows& rows, const float* weights, float bias) {
  HWY_DYNAMIC_DISPATCH(additive_scores_of)(rows, weights, bias);
}

void weighted_sum(const WeighedRows& rows) {
  HWY_DYNAMIC_DISPATCH(weighted_sum_of)(rows);
}

}  // namespace encdec::kernels
#endif
