#pragma once

#include <cstddef>

namespace encdec::kernels {

// The queries and keys of one sequence of a dense batch: rows of `width` floats, one after another.
struct ScoredRows {
  const float* queries = nullptr;
  const float* keys = nullptr;
  int query_count = 0;
  int key_count = 0;
  int width = 0;
  float* scores = nullptr;  // query i: key_count floats at scores + i * scores_stride
  std::ptrdiff_t scores_stride = 0;
};

// scores_ij = <query_i, key_j> / divisor
void dot_product_scores(const ScoredRows& rows, float divisor);

// scores_ij = <weights, tanh(query_i + key_j)> + bias, with `width` weights.
void additive_scores(const ScoredRows& rows, const float* weights, float bias);

// The attention weights of some queries, and the values: rows of `width` floats, one after another.
struct WeighedRows {
  const float* weights = nullptr;  // query i: value_count floats at weights + i * weights_stride
  std::ptrdiff_t weights_stride = 0;
  const float* values = nullptr;
  int query_count = 0;
  int value_count = 0;
  int width = 0;
  float* output = nullptr;  // a row for each query
};

// output_i = sum_j weights_ij * value_j, summed in the order of j.
void weighted_sum(const WeighedRows& rows);

// In these three functions the result of a query does not depend, bit by bit, on the other queries, and a score does
// not depend on the other keys.

}  // namespace encdec::kernels
