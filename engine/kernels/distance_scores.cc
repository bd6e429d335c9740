#include "encdec/engine/kernels/distance_scores.h"

#include <algorithm>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/kernels/bfloat16_attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encdec/engine/kernels/distance_scores.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per instruction set
#include <hwy/highway.h>
// Include this header after highway.h.
#include "encdec/engine/kernels/tile_products_inl.h"

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

constexpr int kMostRows = std::max(kTileQueries, kBfloat16Queries);  // most rows that are multiplied together
// Number of keys per group. It is a multiple of 4, of kTileQueries and of kBfloat16Queries.
constexpr int kKeyGroup = 24;
static_assert(kKeyGroup % kTileQueries == 0 && kKeyGroup % kBfloat16Queries == 0 && kDistanceQueries % 4 == 0);

// Offsets in the scratch memory, in floats. The products of a tile begin at offset 0.
struct Scratch {
  std::size_t stride;  // floats between the products of neighbouring rows
  std::size_t turned;  // first transposed score of a group of keys, which has kDistanceQueries scores per key
  std::size_t end;

  explicit Scratch(const HeadAttention& head)
      : stride(static_cast<std::size_t>(std::max(head.distance_keys.count, head.distance_queries.count) +
                                        DistanceRows::kPadding)),
        turned(kMostRows * stride),
        end(turned + kKeyGroup * kDistanceQueries) {}
};

// Products of a tile of rows (queries or keys) with the rows of a range of distances.
struct Products {
  float* data;
  std::size_t stride;
  const DistanceRows& table;
  int first = 0;  // row of `table` whose products are in column 0

  int rows_at_once() const { return table.packed != nullptr ? kBfloat16Queries : kTileQueries; }
  // Multiplies `count` rows by the rows of `table` for distances [nearest, farthest].
  void multiply(const HeadAttention& head, const float* rows, std::ptrdiff_t row_stride, int count, int nearest,
                int farthest) {
    const float* addresses[kMostRows];
    for (int r = 0; r < kMostRows; ++r) addresses[r] = rows + std::min(r, count - 1) * row_stride;
    first = table.row_of_distance(nearest);
    const int end = table.row_of_distance(farthest) + 1;
    if (table.packed != nullptr) {
      first = first / Bfloat16Head::kColumns * Bfloat16Head::kColumns;
      const int whole = (end + Bfloat16Head::kColumns - 1) / Bfloat16Head::kColumns * Bfloat16Head::kColumns;
      const Bfloat16Head part{.key_count = std::min(whole, table.count) - first, .head_dim = head.head_dim};
      const auto* panels = table.packed + static_cast<std::ptrdiff_t>(2 * part.dim_pairs()) * first;
      bfloat16_scores(part, addresses, count, panels, head.scale, data, static_cast<std::ptrdiff_t>(stride));
      return;
    }
    for (int n = first; n < end; n += kPanelKeys) {
      Tile sums;
      sum_dimensions(head.head_dim, addresses, table.columns + n, table.stride(), 0, 1, sums);
      store_scaled(sums, head.scale, data + (n - first), stride);
    }
  }

  // to[n] = the product of row r and the row of `table` for distance nearest + n, clamped to [-reach, reach].
  void spread(int r, int nearest, int count, float* HWY_RESTRICT to) const {
    const D d;
    const float* HWY_RESTRICT row = data + static_cast<std::size_t>(r) * stride - first;
    const int begin = std::clamp(-table.reach - nearest, 0, count);
    const int end = std::clamp(table.reach + 1 - nearest, begin, count);
    std::fill(to, to + begin, begin > 0 ? row[table.row_of[-table.reach]] : 0.0f);
    int n = begin;
    const std::int32_t* HWY_RESTRICT columns = table.row_of + nearest;
    for (; n + kLanes <= end; n += kLanes) {
      if (columns[n + kLanes - 1] - columns[n] == kLanes - 1) {
        hn::StoreU(hn::LoadU(d, row + columns[n]), d, to + n);
      } else {
        for (int k = n; k < n + kLanes; ++k) to[k] = row[columns[k]];
      }
    }
    for (; n < end; ++n) to[n] = row[columns[n]];
    std::fill(to + end, to + count, end < count ? row[table.row_of[table.reach]] : 0.0f);
  }
};

// scores[i * stride + k] += from[k][i] for `keys` keys, at most four.
HWY_INLINE void add_turned(const float* const* from, int count, int keys, float* HWY_RESTRICT scores,
                           std::ptrdiff_t stride) {
  for (int i = 0; i < count; i += 4) {
    float block[4][4];
    float* const rows[4] = {block[0], block[1], block[2], block[3]};
    transpose_four(from, i, rows);
    for (int r = 0; r < std::min(4, count - i); ++r) {
      float* HWY_RESTRICT to = scores + (i + r) * stride;
      for (int k = 0; k < keys; ++k) to[k] += block[r][k];
    }
  }
}

std::size_t scratch_of(const HeadAttention& head) {
  return Scratch(head).end;
}

void score(const HeadAttention& head, int first, int count, float* HWY_RESTRICT scores, float* HWY_RESTRICT scratch) {
  const Scratch layout(head);
  const std::ptrdiff_t keys = head.key_count;
  const int position = head.position_of(first);
  if (head.distance_keys.count == 0) {
    std::fill_n(scores, count * keys, 0.0f);
  } else {
    Products of_queries{scratch, layout.stride, head.distance_keys};
    for (int i = 0; i < count;) {
      const int rows = std::min(of_queries.rows_at_once(), count - i), nearest = -(position + i);
      of_queries.multiply(head, head.query + (first + i) * head.query_stride, head.query_stride, rows,
                          nearest - rows + 1, nearest + head.key_count - 1);
      for (int r = 0; r < rows; ++r, ++i) of_queries.spread(r, -(position + i), head.key_count, scores + i * keys);
    }
  }
  if (head.distance_queries.count == 0) return;
  // Compute the scores of one group of keys at a time, with one row per key. Then add the transposed scores.
  Products of_keys{scratch, layout.stride, head.distance_queries};
  for (int group = 0; group < head.key_count; group += kKeyGroup) {
    check_cancelled();
    const int end = std::min(group + kKeyGroup, head.key_count);
    float* turned = scratch + layout.turned;
    for (int j = group; j < end;) {
      const int rows = std::min(of_keys.rows_at_once(), end - j);
      of_keys.multiply(head, head.keys.row<float>(j), head.keys.stride, rows, position - j - rows + 1,
                       position + count - 1 - j);
      for (int r = 0; r < rows; ++r, ++j)
        of_keys.spread(r, position - j, count, turned + (j - group) * kDistanceQueries);
    }
    for (int j = group; j < end; j += 4) {
      const float* from[4];
      for (int k = 0; k < 4; ++k) from[k] = turned + (j + k - group) * kDistanceQueries;
      add_turned(from, count, std::min(4, end - j), scores + j, keys);
    }
  }
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace encdec::kernels {

HWY_EXPORT(scratch_of);
HWY_EXPORT(score);

std::size_t distance_scratch(const HeadAttention& head) {
  return HWY_DYNAMIC_DISPATCH(scratch_of)(head);
}

void score_distances(const HeadAttention& head, int first, int count, float* scores, float* scratch) {
  HWY_DYNAMIC_DISPATCH(score)(head, first, count, scores, scratch);
}

}  // namespace encdec::kernels
#endif
