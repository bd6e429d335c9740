#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "encdec/engine/base/dtype.h"

namespace encdec::kernels {

// A view of keys or of values: one row for each head and position.
//
// In a key/value cache the rows lie in pages of 16 positions. A page holds its rows of head 0, then its rows of head 1,
// and so on, because attention reads one head after another. Two pages of two heads:
//
//            |               page 0                |               page 1                |
//    head    |        0         |        1         |        0         |        1         |
//    place   | 0  1  2  ...  15 | 0  1  2  ...  15 | 16  17  ...   31 | 16  17  ...   31 |
//            |<- head_stride -->|<--- page_gap --->|
//
//   before(15) = 15 * stride
//   before(16) = 16 * stride + page_gap
//
// `index` gives the place of each position of a sequence. Without an index, position j is at place j. Outside a cache,
// page_gap is 0.
struct AttentionRows {
  static constexpr int kPageRows = 16;

  const void* data = nullptr;  // the row of head 0 at place 0
  std::ptrdiff_t stride = 0;   // elements between neighbouring places
  const std::int32_t* index = nullptr;
  std::ptrdiff_t page_gap = 0;        // elements of the other heads, between two pages of one head
  std::ptrdiff_t head_stride = 0;     // elements between neighbouring heads
  DataType type = DataType::float32;  // or bfloat16

  // Returns the number of elements between `data` and the row at `place`.
  std::ptrdiff_t before(std::ptrdiff_t place) const { return place * stride + (place / kPageRows) * page_gap; }
  // Returns the row of position j.
  template <class T>
  const T* row(int j) const {
    return static_cast<const T*>(data) + before(index != nullptr ? index[j] : j);
  }
  // Returns the rows of head `number` as a view whose `data` is that head's first row.
  AttentionRows of_head(int number) const {
    AttentionRows rows = *this;
    rows.data = static_cast<const std::byte*>(data) + number * head_stride * static_cast<std::ptrdiff_t>(size_of(type));
    return rows;
  }
};

// Rows for the distances between queries and keys, in ascending order; neighbouring distances may share a row. The rows
// are stored in one of two orders.
struct DistanceRows {
  static constexpr int kPadding = 64;  // floats after the last row's number of each dimension

  const float* columns = nullptr;         // number i of row n at columns[i * stride() + n]
  const std::uint16_t* packed = nullptr;  // as pack_bfloat16_keys() writes them
  int count = 0;                          // number of rows; 0 if there are none
  const std::int32_t* place = nullptr;    // place[d] is the row of distance d, for d in [-reach, reach]
  int reach = 0;                          // distances farther away have the row of -reach or reach
  std::ptrdiff_t head_elements = 0;       // numbers from a head's rows to those of the next head

  std::ptrdiff_t stride() const { return count + kPadding; }
  int place_of(int distance) const { return place[std::clamp(distance, -reach, reach)]; }
  // Returns the rows of head `number`. REQUIRES: these are the rows of head 0.
  DistanceRows of_head(int number) const {
    DistanceRows rows = *this;
    if (rows.columns != nullptr) rows.columns += number * head_elements;
    if (rows.packed != nullptr) rows.packed += number * head_elements;
    return rows;
  }
};

// Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1) of one head of one sequence:
//   output_i = sum_j softmax_j(scale * (<query_i, key_j> + <query_i, distance_key_{j - p_i}>
//                                       + <distance_query_{p_i - j}, key_j>) + bias_{j - p_i}) * value_j
// Query i is at position p_i = first_position + i.
struct HeadAttention {
  const float* query = nullptr;  // row i at query + i * query_stride, head_dim floats
  std::ptrdiff_t query_stride = 0;
  float* output = nullptr;  // row i at output + i * output_stride, value_dim floats
  std::ptrdiff_t output_stride = 0;
  AttentionRows keys;    // head_dim elements each, of the same type as the values
  AttentionRows values;  // value_dim elements each
  int query_count = 0;
  int key_count = 0;
  // Position of the first query; unset: key_count - query_count, so that the last query is at the last key.
  std::optional<int> first_position = {};
  int head_dim = 0;
  int value_dim = 0;
  float scale = 1.0f;
  // If set, a query sees no key after its own position.
  bool causal = false;
  // Maximum distance, on either side, between the position of a query and a key that it sees.
  int window = std::numeric_limits<int>::max();
  // Maximum distance of keys after the query's position; unset: `window`.
  std::optional<int> ahead = {};
  // Address of the bias for distance 0, or null for no bias. relative_bias[d] is the bias of a key d positions after
  // the query (before it, if d < 0), for d in [-bias_reach, bias_reach]. Keys farther away get the bias of distance
  // -bias_reach or bias_reach.
  const float* relative_bias = nullptr;
  int bias_reach = 0;
  // Rows that are multiplied with queries and with keys, for disentangled attention (He et al. 2021, section 3.1).
  // REQUIRES, if there are any: none of `causal`, `window` and `ahead` hides keys, and the keys are float32 and have no
  // index.
  DistanceRows distance_keys = {};
  DistanceRows distance_queries = {};
  // Scores of every query and key, [query_count, key_count], that are added to those of this call; or null.
  const float* added_scores = nullptr;
  // Set by callers that always pass all queries of a sequence in one call, as encoders do. attend() then sums the
  // scores of many queries in a faster order, which differs from the order for few queries.
  bool all_queries_in_one_call = false;
  // If set together with `all_queries_in_one_call`, products may be in bfloat16 with sums in float32. Ignored if
  // `causal`, `window` or `ahead` hides keys, or if the keys are bfloat16. REQUIRES: the CPU has AVX-512 BF16.
  bool in_bfloat16 = false;
  // If set, keys and values are bfloat16, as pack_bfloat16_keys() and pack_bfloat16_values() write them, one head after
  // another. REQUIRES: none of `causal`, `window` and `ahead` hides keys, and the CPU has AVX-512 BF16.
  bool packed = false;
  // Address for the softmax weights, or null. The weight of key j for query i goes to weights[i * key_count + j], if
  // query i sees key j.
  float* weights = nullptr;

  // Returns the position of query i.
  int position_of(int i) const { return first_position.value_or(key_count - query_count) + i; }
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
  const int window = std::min(head.window, head.key_count + head.query_count);
  const int first = std::max(position - window, 0);
  const int end = head.causal ? position + 1 : std::min(position + head.ahead.value_or(window) + 1, head.key_count);
  return {first, std::max(first, end)};
}

// Returns the number of floats that attend() needs as scratch memory.
std::size_t attention_scratch(const HeadAttention& head);

// Computes the attention of all queries of `head`. A query that sees no key gets zeros.
// A query's result depends only on the query and on the keys and values that it sees, bit by bit. It does not depend on
// where the rows lie, nor, unless `all_queries_in_one_call` is set, on the other queries of the call.
void attend(const HeadAttention& head, float* scratch);

}  // namespace encdec::kernels
