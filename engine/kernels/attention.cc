#include "encdec/engine/kernels/attention.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/kernels/bfloat16_attention.h"
#include "encdec/engine/kernels/distance_scores.h"
#include "encdec/engine/kernels/lookahead.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encdec/engine/kernels/attention.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per instruction set
#include <hwy/highway.h>
// Include these headers after highway.h.
#include "encdec/engine/kernels/dot_products_inl.h"
#include "encdec/engine/kernels/query_group_inl.h"
#include "encdec/engine/kernels/tile_products_inl.h"

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// These constants are for few queries, whose keys and values are read in place.
constexpr int kChunksAtOnce = 4;  // number of vectors of a value row that are summed together
// Number of queries that share each load of a key or value. The registers hold accumulators for all these queries.
constexpr int kQueriesAtOnce = kHasManyRegisters ? 6 : 2;

// Minimum numbers of queries and keys for which it pays off to copy the keys (to panels) and the values.
constexpr int kManyQueries = 16;
constexpr int kManyKeys = 16;

// scores[q * stride + j] = scale * <query q, key j> for four keys.
template <int kQueries, class T>
HWY_INLINE void score_four_keys(const HeadAttention& head, const float* HWY_RESTRICT const* queries,
                                const T* HWY_RESTRICT const* keys, float* HWY_RESTRICT scores, std::size_t stride) {
  multiply_four_keys<kQueries>(queries, keys, head.head_dim, scores, static_cast<std::ptrdiff_t>(stride));
  for (int q = 0; q < kQueries; ++q) {
    float* HWY_RESTRICT row = scores + static_cast<std::size_t>(q) * stride;
    for (int k = 0; k < kKeysAtOnce; ++k) row[k] *= head.scale;
  }
}

// Returns the distance between the scores of neighbouring queries. Each row of scores is padded to whole panels. With a
// window, the row has one more panel, because the first panel may begin before the window.
std::size_t scores_stride(const HeadAttention& head) {
  const std::size_t panels = static_cast<std::size_t>(head.key_count) / kPanelKeys + 1;
  return (head.limits.before < head.key_count ? panels + 1 : panels) * kPanelKeys;
}

template <class T>
struct ScatteredValues {
  const AttentionRows& rows;

  const T* row(int j) const { return rows.row<T>(j); }
  V load_first(const T* from, int count) const { return load_some(D(), from, count); }
};

template <class T>
HWY_INLINE void prefetch_row(const T* row, int count) {
  for (int i = 0; i < count; i += static_cast<int>(kLineBytes / sizeof(T))) prefetch_line(row + i);
}

// Computes attention for up to kQueries queries. Reads keys and values in place.
template <class T, int kQueries>
HWY_NOINLINE void attend_few(const HeadAttention& head, int first, float* HWY_RESTRICT scratch) {
  const std::size_t stride = scores_stride(head);
  QueryGroup<kQueries> group(head, first);
  for (int j = group.first_key(); j < group.end_key(); j += kKeysAtOnce) {
    const T* keys[kKeysAtOnce];
    for (int k = 0; k < kKeysAtOnce; ++k) {
      const int row = std::min(j + k, group.end_key() - 1);
      keys[k] = head.keys.row<T>(row);
      prefetch_row(head.values.row<T>(row), head.value_dim);
    }
    score_four_keys<kQueries>(head, group.queries, keys, scratch + j, stride);
  }
  weigh_keys(head, scratch, stride, group);
  // Prefetch the next head's keys, which this thread reads next.
  for (int j = group.first_key(); j < group.end_key(); ++j) {
    prefetch_row(head.keys.row<T>(j) + head.keys.head_stride, head.head_dim);
  }
  weigh_values<kChunksAtOnce>(head, ScatteredValues<T>{head.values}, scratch, stride, group);
}

// sum_lanes() adds four lanes in the order (0 + 2) + (1 + 3), then the next four in the same order. Returns the lane at
// `index` of this order. The code for many queries adds in the same order, so that results are bitwise identical.
constexpr int lane_at(int index) {
  constexpr int kOrder[] = {0, 2, 1, 3};
  return kLanes == 1 ? 0 : index / 4 * 4 + kOrder[index % 4];
}

// Copies the keys to panels of kPanelKeys keys, and repeats the last key to fill the last panel. A panel has one row
// per dimension, in the order of score_panel(): lane by lane for QuerySet::some, else ascending.
template <class T>
void pack_keys(const HeadAttention& head, float* HWY_RESTRICT panel) {
  int rows[kLanes];  // for each lane, the panel row of the lane's first dimension
  for (int index = 0, taken = 0; index < kLanes; ++index) {
    const int lane = lane_at(index);
    rows[lane] = taken;
    taken += (head.head_dim - lane + kLanes - 1) / kLanes;  // adds 0 for a lane without dimensions
  }
  const auto row_of = [&](int i) {
    return panel + (head.queries != QuerySet::some ? i : rows[i % kLanes] + i / kLanes) * kPanelKeys;
  };
  for (int first = 0; first < head.key_count; first += kPanelKeys, panel += kPanelKeys * head.head_dim) {
    for (int k = 0; k < kPanelKeys; k += 4) {
      // Transpose four keys at a time.
      const T* keys[4];
      for (int n = 0; n < 4; ++n) keys[n] = head.keys.row<T>(std::min(first + k + n, head.key_count - 1));
      int i = 0;
      for (; i + 4 <= head.head_dim; i += 4) {
        float* const rows[4] = {row_of(i) + k, row_of(i + 1) + k, row_of(i + 2) + k, row_of(i + 3) + k};
        transpose_four(keys, i, rows);
      }
      for (; i < head.head_dim; ++i) {
        for (int n = 0; n < 4; ++n) row_of(i)[k + n] = as_float(keys[n][i]);
      }
    }
  }
}

// A copy of the values. Each row is padded with zeros to whole vectors.
struct PackedValues {
  float* data;
  int width;

  const float* row(int j) const { return data + static_cast<std::ptrdiff_t>(j) * width; }
  V load_first(const float* from, int) const { return hn::LoadU(D(), from); }

  template <class T>
  void pack(const HeadAttention& head) const {
    for (int j = 0; j < head.key_count; ++j) {
      const T* HWY_RESTRICT from = head.values.row<T>(j);
      float* HWY_RESTRICT to = data + static_cast<std::ptrdiff_t>(j) * width;
      for (int i = 0; i < head.value_dim; i += kLanes) {
        hn::StoreU(load_some(D(), from + i, head.value_dim - i), D(), to + i);
      }
    }
  }
};

// Adds the products of all dimensions in the same order as score_four_keys(): first sums every kLanes'th product to one
// lane, then adds up the lanes.
HWY_INLINE void sum_lane_by_lane(const HeadAttention& head, const float* HWY_RESTRICT const* queries,
                                 const float* HWY_RESTRICT panel, Tile& total) {
  const auto sum_lane = [&](int lane, Tile& sums) HWY_ATTR {
    panel = sum_dimensions(head.head_dim, queries, panel, kPanelKeys, lane, kLanes, sums);
  };
  const auto add = [](Tile& sums, const Tile& others) HWY_ATTR {
    for (int q = 0; q < kTileQueries; ++q) {
      for (int v = 0; v < kTileVectors; ++v) sums[q][v] = hn::Add(sums[q][v], others[q][v]);
    }
  };
  if constexpr (kLanes == 1) {
    sum_lane(0, total);
  } else {
    for (auto& row : total) std::fill(std::begin(row), std::end(row), hn::Zero(D()));
    for (int index = 0; index < kLanes; index += 4) {
      Tile even, odd, other;
      sum_lane(lane_at(index), even);
      sum_lane(lane_at(index + 1), other);
      add(even, other);
      sum_lane(lane_at(index + 2), odd);
      sum_lane(lane_at(index + 3), other);
      add(odd, other);
      add(even, odd);
      add(total, even);
    }
  }
}

// scores[q * stride + k] = scale * <query q, key k> for a tile of queries and a panel of keys.
HWY_INLINE void score_panel(const HeadAttention& head, const float* HWY_RESTRICT const* queries,
                            const float* HWY_RESTRICT panel, float* HWY_RESTRICT scores, std::size_t stride) {
  Tile total;
  if (head.queries != QuerySet::some) {
    sum_dimensions(head.head_dim, queries, panel, kPanelKeys, 0, 1, total);
  } else {
    sum_lane_by_lane(head, queries, panel, total);
  }
  store_scaled(total, head.scale, scores, stride);
}

bool has_many_queries(const HeadAttention& head) {
  return head.query_count >= kManyQueries && head.key_count >= kManyKeys;
}

// Offsets in the scratch memory of attend_many(), in floats. The scores begin at offset 0.
struct ManyQueriesScratch {
  std::size_t stride;
  std::size_t keys;    // first float of the keys
  std::size_t values;  // first float of the values
  int value_width;
  std::size_t end;

  explicit ManyQueriesScratch(const HeadAttention& head)
      : stride(scores_stride(head)),
        keys(kTileQueries * stride),
        values(keys + stride * static_cast<std::size_t>(head.head_dim)),
        value_width((head.value_dim + kLanes - 1) / kLanes * kLanes),
        end(values + static_cast<std::size_t>(head.key_count) * static_cast<std::size_t>(value_width)) {}
};

// Computes attention for one tile of queries after another, starting at query `first`, while at least half a tile is
// left. Returns the first query that is left.
template <class T>
int attend_many(const HeadAttention& head, int first, float* HWY_RESTRICT scratch) {
  const ManyQueriesScratch layout(head);
  const float* panels = scratch + layout.keys;
  const PackedValues values{scratch + layout.values, layout.value_width};
  pack_keys<T>(head, scratch + layout.keys);
  values.pack<T>(head);
  for (; first + kTileQueries / 2 <= head.query_count; first = std::min(first + kTileQueries, head.query_count)) {
    check_cancelled();  // with a long source, a tile takes milliseconds, and a head has many tiles
    QueryGroup<kTileQueries> group(head, first);
    for (int j = group.first_key() / kPanelKeys * kPanelKeys; j < group.end_key(); j += kPanelKeys) {
      score_panel(head, group.queries, panels + static_cast<std::ptrdiff_t>(j) * head.head_dim, scratch + j,
                  layout.stride);
    }
    weigh_keys(head, scratch, layout.stride, group);
    weigh_values<kTileVectors>(head, values, scratch, layout.stride, group);
  }
  return first;
}

// Returns true if attend_in_bfloat16() computes this head.
bool is_in_bfloat16(const HeadAttention& head) {
  if (head.keys.form == RowForm::packed) return head.query_count > 0 && head.key_count > 0;
  return head.queries == QuerySet::all_in_bfloat16 && has_many_queries(head) &&
         head.limits.hide_none_of(head.key_count) && head.keys.form == RowForm::float32 && head.keys.index == nullptr &&
         head.head_dim <= Bfloat16Head::kLargestDim;
}

// Offsets in the scratch memory of attend_in_bfloat16(), in floats. The scores begin at offset 0.
struct Bfloat16Scratch {
  Bfloat16Head packed;
  std::size_t stride;  // floats between the scores of neighbouring queries
  std::size_t keys;    // first float of the keys, if they are copied here
  std::size_t values;  // first float of the values, if they are copied here
  std::size_t end;

  explicit Bfloat16Scratch(const HeadAttention& head)
      : packed{head.key_count, head.head_dim, head.value_dim},
        stride(static_cast<std::size_t>(packed.score_stride())),
        keys(kBfloat16Queries * stride),
        values(keys + (head.keys.form == RowForm::packed ? 0 : packed.keys() / 2)),
        end(values + (head.keys.form == RowForm::packed ? 0 : packed.values() / 2 + 1)) {}
};

void attend_in_bfloat16(const HeadAttention& head, float* HWY_RESTRICT scratch) {
  const Bfloat16Scratch layout(head);
  const auto* keys = static_cast<const std::uint16_t*>(head.keys.data);
  const auto* values = static_cast<const std::uint16_t*>(head.values.data);
  if (head.keys.form != RowForm::packed) {
    auto* packed_keys = reinterpret_cast<std::uint16_t*>(scratch + layout.keys);
    auto* packed_values = reinterpret_cast<std::uint16_t*>(scratch + layout.values);
    pack_bfloat16_keys(layout.packed, head.keys.row<float>(0), head.keys.stride, packed_keys);
    pack_bfloat16_values(layout.packed, head.values.row<float>(0), head.values.stride, packed_values);
    keys = packed_keys, values = packed_values;
  }
  const auto stride = static_cast<std::ptrdiff_t>(layout.stride);
  for (int first = 0; first < head.query_count; first += kBfloat16Queries) {
    if (first > 0) check_cancelled();
    QueryGroup<kBfloat16Queries> group(head, first);
    bfloat16_scores(layout.packed, group.queries, group.count, keys, head.scale, scratch, stride);
    weigh_keys(head, scratch, layout.stride, group);
    float* outputs[kBfloat16Queries];
    for (int q = 0; q < group.count; ++q) outputs[q] = head.output + (first + q) * head.output_stride;
    bfloat16_weighted_values(layout.packed, scratch, stride, group.count, group.normalizers, values, outputs);
  }
}

bool has_distances(const HeadAttention& head) {
  return head.distance_keys.count > 0 || head.distance_queries.count > 0;
}

// Returns the part of `head` with queries [first, first + count). `added` holds the scores of their distances.
HeadAttention part_of(const HeadAttention& head, int first, int count, const float* added) {
  HeadAttention part = head;
  part.query += first * head.query_stride;
  part.output += first * head.output_stride;
  part.query_count = count;
  part.first_position = head.position_of(first);
  part.distance_keys = part.distance_queries = {};
  part.added_scores = added;
  if (head.weights != nullptr) part.weights += static_cast<std::ptrdiff_t>(first) * head.key_count;
  return part;
}

std::size_t scratch_of(const HeadAttention& head) {
  if (has_distances(head)) {
    const int count = std::min(head.query_count, kDistanceQueries);
    const std::size_t scores = static_cast<std::size_t>(count) * static_cast<std::size_t>(head.key_count);
    // The last part may have so few queries that another algorithm computes it.
    const HeadAttention many = part_of(head, 0, count, nullptr), few = part_of(head, 0, std::min(count, 1), nullptr);
    return scores + std::max({distance_scratch(head), scratch_of(many), scratch_of(few)});
  }
  if (is_in_bfloat16(head)) return Bfloat16Scratch(head).end;
  return has_many_queries(head) ? ManyQueriesScratch(head).end : kQueriesAtOnce * scores_stride(head);
}

// Divides the queries into as few groups as possible, of nearly equal sizes, and computes attention group by group.
template <class T, int... kQueriesLessOne>
void attend_groups(const HeadAttention& head, int first, float* scratch,
                   std::integer_sequence<int, kQueriesLessOne...>) {
  using Attend = void (*)(const HeadAttention&, int, float*);
  static constexpr Attend kFunctions[] = {&attend_few<T, kQueriesLessOne + 1>...};
  while (first < head.query_count) {
    const int left = head.query_count - first, groups = (left + kQueriesAtOnce - 1) / kQueriesAtOnce;
    const int count = (left + groups - 1) / groups;
    kFunctions[count - 1](head, first, scratch);
    first += count;
  }
}

template <class T>
void attend_typed(const HeadAttention& head, float* scratch) {
  // Write zeros for queries that see no key. They come first, because the visible keys move forward with the query.
  int i = 0;
  for (; i < head.query_count && keys_seen(head, i).count() == 0; ++i) {
    std::fill_n(head.output + i * head.output_stride, head.value_dim, 0.0f);
  }
  if (has_many_queries(head)) i = attend_many<T>(head, i, scratch);
  attend_groups<T>(head, i, scratch, std::make_integer_sequence<int, kQueriesAtOnce>());
}

void attend_head(const HeadAttention& head, float* scratch) {
  // Compute the scores of distances first, for a limited number of queries at a time.
  if (has_distances(head)) {
    const int at_once = std::min(head.query_count, kDistanceQueries);
    float* rest = scratch + static_cast<std::ptrdiff_t>(at_once) * head.key_count;
    for (int first = 0; first < head.query_count; first += at_once) {
      const int count = std::min(at_once, head.query_count - first);
      score_distances(head, first, count, scratch, rest);
      attend_head(part_of(head, first, count, scratch), rest);
    }
    return;
  }
  if (is_in_bfloat16(head)) {
    attend_in_bfloat16(head, scratch);
  } else if (head.keys.form == RowForm::bfloat16) {
    attend_typed<std::uint16_t>(head, scratch);
  } else {
    attend_typed<float>(head, scratch);
  }
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace encdec::kernels {

HWY_EXPORT(scratch_of);
HWY_EXPORT(attend_head);

std::size_t attention_scratch(const HeadAttention& head) {
  return HWY_DYNAMIC_DISPATCH(scratch_of)(head);
}

void attend(const HeadAttention& head, float* scratch) {
  HWY_DYNAMIC_DISPATCH(attend_head)(head, scratch);
}

}  // namespace encdec::kernels
#endif
