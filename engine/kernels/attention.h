#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "encdec/engine/kernels/attention_rows.h"

namespace encdec::kernels {

// The queries of a call.
enum class QuerySet : std::uint8_t {
  some,             // any queries of a sequence
  all,              // always all queries of a sequence, as in encoders: many are summed in a faster order than few
  all_in_bfloat16,  // the same; products may be in bfloat16 with sums in float32. REQUIRES: AVX-512 BF16
};

// Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1) of one head of one sequence:
// A sum over j is a sum over keys_seen(i). The products with distances are DeBERTa's; there are none by default.
//   output_i = sum_j softmax_j(scale * (<query_i, key_j> + <query_i, distance_key_{j - p_i}>
//                                       + <distance_query_{p_i - j}, key_j>) + bias_{j - p_i}) * value_j
// Query i is at position p_i = first_position + i * position_step.
struct HeadAttention {
  const float* query = nullptr;  // row i at query + i * query_stride, head_dim floats
  std::ptrdiff_t query_stride = 0;
  float* output = nullptr;  // row i at output + i * output_stride, value_dim floats
  std::ptrdiff_t output_stride = 0;
  AttentionRows keys;    // head_dim elements each. REQUIRES, for RowForm::packed: `limits` hide none of them
  AttentionRows values;  // value_dim elements each, in the form of the keys
  int query_count = 0;
  int key_count = 0;
  // Position of the first query; unset: key_count - query_count, so that the last query is at the last key.
  std::optional<int> first_position = {};
  int position_step = 1;  // 0: all queries are at one position, as in heads that share keys
  int head_dim = 0;
  int value_dim = 0;
  float scale = 1.0f;
  float score_cap = 0.0f;  // c: a scaled score s becomes c * tanh(s / c) before the bias is added; 0: it stays
  KeyLimits limits = {};
  QuerySet queries = QuerySet::some;
  // Address of the bias for distance 0, or null for no bias. relative_bias[d] is the bias of a key d positions after
  // the query (before it, if d < 0), for d in [-bias_reach, bias_reach]. Keys farther away get the bias of distance
  // -bias_reach or bias_reach.
  const float* relative_bias = nullptr;
  int bias_reach = 0;
  // Rows that are multiplied with queries and with keys, for disentangled attention (He et al. 2021, section 3.1).
  // REQUIRES, if there are any: `limits` hide no key, and the keys are float32 and have no index.
  DistanceRows distance_keys = {};
  DistanceRows distance_queries = {};
  // Scores of every query and key, [query_count, key_count], that are added to those of this call; or null.
  const float* added_scores = nullptr;
  // Address for the softmax weights, or null. The weight of key j for query i goes to weights[i * key_count + j], if
  // query i sees key j.
  float* weights = nullptr;
  // Address for log(sum_j exp(score_j)) of each query, or null. Query i writes log_sums[i * log_sums_stride],
  // if query i sees a key. Attention to two sets of keys is a mean with the exponentials of these as weights.
  float* log_sums = nullptr;
  std::ptrdiff_t log_sums_stride = 0;

  // Returns the position of query i.
  int position_of(int i) const { return first_position.value_or(key_count - query_count) + i * position_step; }
};

// Keys [first, end), possibly none. Neither bound decreases from one query to the next.
struct KeyRange {
  int first = 0;
  int end = 0;

  int count() const { return end - first; }
};

// Returns the keys that query i sees.
inline KeyRange keys_seen(const HeadAttention& head, int i) {
  const int position = head.position_of(i);
  const int most = head.key_count + head.query_count;  // an unset limit is INT_MAX; this keeps the sums in range
  const int first = std::max(position - std::min(head.limits.before, most), 0);
  const int end = std::min(position + std::min(head.limits.after, most) + 1, head.key_count);
  return {first, std::max(first, end)};
}

// Returns the number of floats that attend() needs as scratch memory.
std::size_t attention_scratch(const HeadAttention& head);

// Computes the attention of all queries of `head`. A query that sees no key gets zeros.
// A query's result depends only on the query and on the keys and values that it sees, bit by bit. It does not depend on
// where the rows lie, nor, if `queries` is QuerySet::some, on the other queries of the call.
void attend(const HeadAttention& head, float* scratch);

}  // namespace encdec::kernels
