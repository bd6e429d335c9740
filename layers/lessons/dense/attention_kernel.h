#pragma once

#include <cstddef>

namespace encdec::kernels {

// Some queries and all keys of one member of a dense batch: rows of `width` floats, one after another.
struct ScoredRows {
  const float* queries = nullptr;
  const float* keys = nullptr;
  int query_count = 0;
  int key_count = 0;
  int width = 0;
  float* scores = nullptr;  // of query i at scores + i * scores_stride, key_count floats
  std::ptrdiff_t scores_stride = 0;
};

// scores_ij = <query_i, key_j> / divisor
void dot_product_scores(const ScoredRows& rows, float divisor);

// scores_ij = <weights, tanh(query_i + key_j)> + bias, with `width` weights.
void additive_scores(const ScoredRows& rows, const float* weights, float bias);

// The weights of some queries, and the values that they weigh: rows of `width` floats, one after another.
struct WeighedRows {
  const float* weights = nullptr;  // of query i at weights + i * weights_stride, value_count floats
  std::ptrdiff_t weights_stride = 0;
  const float* values = nullptr;
  int query_count = 0;
  int value_count = 0;
  int width = 0;
  float* output = nullptr;  // row after row
};

// output_i = sum_j weights_ij * value_j, the sum over j in their order.
void weighted_sum(const WeighedRows& rows);

// In all three a query's results do not depend, bit by bit, on the queries beside it, nor a score on the other keys.

}  // namespace encdec::kernels
