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
  packed,  // bfloat16, as pack_bfloat16_keys() and pack_bfloat16_values() write a head; only on CPUs with AVX-512 BF16
};

constexpr RowForm row_form(DataType type) {
  return type == DataType::float32 ? RowForm::float32 : RowForm::bfloat16;
}

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
  std::ptrdiff_t page_gap = 0;     // elements of the other heads, between two pages of one head
  std::ptrdiff_t head_stride = 0;  // elements between neighbouring heads
  RowForm form = RowForm::float32;

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
    rows.data = static_cast<const std::byte*>(data) +
                number * head_stride *
                    static_cast<std::ptrdiff_t>(form == RowForm::float32 ? sizeof(float) : sizeof(std::uint16_t));
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
  std::ptrdiff_t head_elements = 0;       // numbers from the rows of a head to the next head's rows

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

// The keys that a query sees: those up to `before` positions before its own, and up to `after` positions after it.
struct KeyLimits {
  int before = std::numeric_limits<int>::max();
  int after = std::numeric_limits<int>::max();

  // Returns whether they hide none of `count` keys from a query at any of these places.
  bool hide_none_of(int count) const { return before >= count && after >= count; }
};

}  // namespace encdec::kernels
