#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "encdec/engine/base/dtype.h"

namespace encdec::kernels {

// How keys or values are stored.
enum class RowForm : std::uint8_t {
  float32,
  bfloat16,
  packed,  // bfloat16, packed by pack_bfloat16_keys() and pack_bfloat16_values()
};

constexpr RowForm row_form(DataType type) {
  return type == DataType::float32 ? RowForm::float32 : RowForm::bfloat16;
}

// A view of keys or values: one row per head and position.
//
// A key/value cache has pages of 16 positions. A page holds the rows of head 0, then of head 1, and
// so on, because attention reads one head after another. Two pages of two heads:
//
//            |               page 0                |               page 1                |
//    head    |        0         |        1         |        0         |        1         |
//    row     | 0  1  2  ...  15 | 0  1  2  ...  15 | 16  17  ...   31 | 16  17  ...   31 |
//            |<- head_stride -->|<--- page_gap --->|
//
//   before(15) = 15 * stride
//   before(16) = 16 * stride + page_gap
//
// `index` maps the positions of a sequence to rows. Without an index, position j is in row j.
// Outside a cache, page_gap is 0.
struct AttentionRows {
  static constexpr int kPageRows = 16;

  const void* data = nullptr;  // row 0 of head 0
  std::ptrdiff_t stride = 0;   // elements between neighbouring rows
  const std::int32_t* index = nullptr;
  std::ptrdiff_t page_gap = 0;     // elements of the other heads between pages
  std::ptrdiff_t head_stride = 0;  // elements between neighbouring heads
  RowForm form = RowForm::float32;

  // Returns the offset of row `number` from `data`, in elements.
  std::ptrdiff_t before(std::ptrdiff_t number) const { return number * stride + (number / kPageRows) * page_gap; }
  template <class T>
  const T* row(int j) const {
    return static_cast<const T*>(data) + before(index != nullptr ? index[j] : j);
  }
  // Returns the rows of head `number`, with its first row as `data`.
  AttentionRows of_head(int number) const {
    AttentionRows rows = *this;
    rows.data = static_cast<const std::byte*>(data) +
                number * head_stride *
                    static_cast<std::ptrdiff_t>(form == RowForm::float32 ? sizeof(float) : sizeof(std::uint16_t));
    return rows;
  }
};

// Rows for the distances between query and key, in ascending order of distance. Neighbouring distances may share a row.
// The rows are stored in one of two orders: `columns` or `packed`.
struct DistanceRows {
  static constexpr int kPadding = 64;  // floats after each column

  const float* columns = nullptr;         // dimension i of row n at columns[i * stride() + n]
  const std::uint16_t* packed = nullptr;  // as written by pack_bfloat16_keys()
  int count = 0;                          // rows; may be 0
  const std::int32_t* row_of = nullptr;   // row_of[d] is the row of distance d in [-reach, reach]
  int reach = 0;                          // larger distances use the rows of -reach or reach
  std::ptrdiff_t head_elements = 0;       // elements from one head to the next

  std::ptrdiff_t stride() const { return count + kPadding; }
  int row_of_distance(int distance) const { return row_of[std::clamp(distance, -reach, reach)]; }
  // REQUIRES: these are the rows of head 0.
  DistanceRows of_head(int number) const {
    DistanceRows rows = *this;
    if (rows.columns != nullptr) rows.columns += number * head_elements;
    if (rows.packed != nullptr) rows.packed += number * head_elements;
    return rows;
  }
};

// A query sees keys from `before` positions before its own to `after` positions after it.
struct KeyLimits {
  int before = std::numeric_limits<int>::max();
  int after = std::numeric_limits<int>::max();

  // Returns true if a query among `count` positions sees all of them.
  bool hide_none_of(int count) const { return before >= count && after >= count; }
};

}  // namespace encdec::kernels
