#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "encdec/engine/base/dtype.h"

namespace encdec::kernels {

// Rows of keys or values, one for each head and position. The index lets a sequence's positions lie anywhere in a
// cache; pages keep a head's rows together there, since one head is read after the other.
struct AttentionRows {
  static constexpr int kPageRows = 16;

  const void* data = nullptr;  // the first head's
  std::ptrdiff_t stride = 0;   // elements from a position to the next one
  const std::int32_t* index = nullptr;
  std::ptrdiff_t page_gap = 0;        // elements more from a page to the next one
  std::ptrdiff_t head_stride = 0;     // elements from a head to the next one
  DataType type = DataType::float32;  // or bfloat16

  // Elements before the row at a place.
  std::ptrdiff_t before(std::ptrdiff_t place) const { return place * stride + (place / kPageRows) * page_gap; }
  // The row of position j.
  template <class T>
  const T* row(int j) const {
    return static_cast<const T*>(data) + before(index != nullptr ? index[j] : j);
  }
  AttentionRows of_head(int number) const {
    AttentionRows rows = *this;
    rows.data = static_cast<const std::byte*>(data) + number * head_stride * static_cast<std::ptrdiff_t>(size_of(type));
    return rows;
  }
};

// Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1) of one head of one sequence:
//   output_i = sum_j softmax_j(scale * <query_i, key_j> + bias_{j - i}) * value_j
struct HeadAttention {
  const float* query = nullptr;  // row i at query + i * query_stride, head_dim floats
  std::ptrdiff_t query_stride = 0;
  float* output = nullptr;  // row i at output + i * output_stride, value_dim floats
  std::ptrdiff_t output_stride = 0;
  AttentionRows keys;    // head_dim elements each, of one type with the values
  AttentionRows values;  // value_dim elements each
  int query_count = 0;
  int key_count = 0;
  int head_dim = 0;
  int value_dim = 0;
  float scale = 1.0f;
  // The last query stands at the last key, and each one before it one key earlier. A causal query sees no key after its
  // own position.
  bool causal = false;
  // Keys farther from a query's position than this, on either side, are not seen.
  int window = std::numeric_limits<int>::max();
  // The bias of a key at the query's own position; those before and after it lie beside, up to `bias_reach` positions
  // away, and farther ones get the last. Null for no bias.
  const float* relative_bias = nullptr;
  int bias_reach = 0;
  // All queries are always asked at once: then each gets the same, though many are summed in another order than few.
  bool at_once = false;
  // Such queries may be multiplied in bfloat16, summed in float32: the CPU has AVX-512's instructions for it. Not where
  // `causal` or `window` limits what they see, nor for keys that are bfloat16.
  bool in_bfloat16 = false;
  // Keys and values are bfloat16 and lie as pack_bfloat16_keys and pack_bfloat16_values put them, one head's behind
  // another's; neither `causal` nor `window` limits what is seen, and the CPU has the instructions.
  bool packed = false;
  // Where the softmax of query i goes: that of key j to weights[i * key_count + j], if it is seen. Null for nowhere.
  float* weights = nullptr;
};

// Keys [first, end), perhaps none. Both grow with the query.
struct KeyRange {
  int first = 0;
  int end = 0;

  int count() const { return end - first; }
};

// The keys that query i sees.
inline KeyRange keys_seen(const HeadAttention& head, int i) {
  const int position = head.key_count - head.query_count + i;
  const int window = std::min(head.window, head.key_count + head.query_count);
  const int first = std::max(position - window, 0);
  const int end = head.causal ? position + 1 : std::min(position + window + 1, head.key_count);
  return {first, std::max(first, end)};
}

// Floats of scratch that attend() needs.
std::size_t attention_scratch(const HeadAttention& head);

// A query's result depends on itself and the keys and values it sees, bit by bit: not on how many queries are asked at
// once, unless they always are, nor on where the rows lie. A query that sees no key gives zeros.
void attend(const HeadAttention& head, float* scratch);

}  // namespace encdec::kernels
