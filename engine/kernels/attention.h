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
  all,              // all queries, as in encoders; with many queries, sums are added in a faster order
  all_in_bfloat16,  // like `all`, but may multiply in bfloat16. REQUIRES: AVX-512 BF16
};

// Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1) of one head of one sequence. Sums over j are sums
// over keys_seen(i). The two products with distances are optional; DeBERTa uses them.
//   output_i = sum_j softmax_j(score_ij) * value_j
//   score_ij = scale * (<query_i, key_j> + <query_i, distance_key_{j - p_i}>
//                       + <distance_query_{p_i - j}, key_j>) + bias_{j - p_i}
// Query i is at position p_i = first_position + i * position_step.
struct HeadAttention {
  const float* query = nullptr;  // row i, of head_dim floats, at query + i * query_stride
  std::ptrdiff_t query_stride = 0;
  float* output = nullptr;  // row i, of value_dim floats, at output + i * output_stride
  std::ptrdiff_t output_stride = 0;
  AttentionRows keys;    // rows of head_dim. REQUIRES, for RowForm::packed: `limits` hide no key
  AttentionRows values;  // rows of value_dim, stored like the keys
  int query_count = 0;
  int key_count = 0;
  // Position of the first query. If unset, it is key_count - query_count, and the last query is at the last key.
  std::optional<int> first_position = {};
  int position_step = 1;  // 0 if all queries are at one position, as in heads that share keys
  int head_dim = 0;
  int value_dim = 0;
  float scale = 1.0f;
  float score_cap = 0.0f;  // c: a score s becomes c * tanh(s / c) before the bias; 0: no cap
  KeyLimits limits = {};
  QuerySet queries = QuerySet::some;
  // The bias at distance 0, or null. relative_bias[d] is the bias of a key d positions after the
  // query (before it, if d < 0), for d in [-bias_reach, bias_reach]; larger |d| use the ends.
  const float* relative_bias = nullptr;
  int bias_reach = 0;
  // Optional rows for disentangled attention (He et al. 2021, section 3.1), multiplied with queries
  // and with keys. REQUIRES: `limits` hide no key, and the keys are float32 and have no index.
  DistanceRows distance_keys = {};
  DistanceRows distance_queries = {};
  // Null, or [query_count, key_count]: added to the scores of this call.
  const float* added_scores = nullptr;
  // Null, or [query_count, key_count] for softmax weights, written for visible keys only.
  float* weights = nullptr;
  // Null, or receives the log-sum-exp of query i's scores in log_sums[i * log_sums_stride], if the query sees a key.
  // The exponentials of two log-sum-exps are the weights for averaging attention to two sets of keys.
  float* log_sums = nullptr;
  std::ptrdiff_t log_sums_stride = 0;

  int position_of(int i) const { return first_position.value_or(key_count - query_count) + i * position_step; }
};

// Keys [first, end). Both bounds are nondecreasing from query to query.
struct KeyRange {
  int first = 0;
  int end = 0;

  int count() const { return end - first; }
};

// Returns the keys that query i sees.
inline KeyRange keys_seen(const HeadAttention& head, int i) {
  const int position = head.position_of(i);
  const int most = head.key_count + head.query_count;  // unset limits are INT_MAX; avoids overflow
  const int first = std::max(position - std::min(head.limits.before, most), 0);
  const int end = std::min(position + std::min(head.limits.after, most) + 1, head.key_count);
  return {first, std::max(first, end)};
}

std::size_t attention_scratch(const HeadAttention& head);  // floats of scratch memory needed

// Computes the attention of all queries of `head`. A query that sees no key gets zeros.
// A query's result is bitwise reproducible: it depends only on the query and on the keys and values
// that it sees, not on their addresses nor, with QuerySet::some, on the other queries of the call.
void attend(const HeadAttention& head, float* scratch);

}  // namespace encdec::kernels
