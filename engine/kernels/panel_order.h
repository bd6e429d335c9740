#pragma once

#include <cstddef>
#include <cstdint>

namespace encdec::kernels {

// Columns of a panel in our own kernels.
inline constexpr int kNarrowColumns = 16;  // AVX2 and NEON registers hold 6 rows of accumulators
inline constexpr int kWideColumns = 64;    // as in oneDNN's AVX-512 matmuls

// Bytes of a group in a wide panel. Each column has 4 bytes: 1 float32, 2 bfloat16 or 4 int8.
inline constexpr std::ptrdiff_t kWideGroupBytes = kWideColumns * 4;

// The order of a weight matrix [K, N] in memory: panels of columns, one after another. Rows of a panel form groups; one
// instruction reads the weights of a group in a column. Missing rows and columns are zeros.
//
// Example: panels of 4 columns (real panels have 16 or 64) in groups of 2 rows; 2,5 is row 2,
// column 5:
//
//   panel 0   0,0 1,0   0,1 1,1   0,2 1,2   0,3 1,3     rows 0 and 1
//             2,0 3,0   2,1 3,1   2,2 3,2   2,3 3,3     rows 2 and 3
//             ...
//   panel 1   0,4 1,4   0,5 1,5   0,6 1,6   0,7 1,7     rows 0 and 1
//             ...
//
// Wide panels in groups of 1, 2 and 4 are oneDNN's BA16a64b (float32), BA16a64b2a (bfloat16) and
// BA16a64b4a (int8). Unpadded panels of one column are the matrix [N, K] as in checkpoints.
struct PanelOrder {
  int columns = kNarrowColumns;
  int group = 1;     // rows in a group
  int padding = 16;  // rows are padded to a multiple of this number of groups

  friend bool operator==(const PanelOrder& a, const PanelOrder& b) = default;

  std::size_t width() const { return static_cast<std::size_t>(columns); }
  // Rounds up to whole groups and padding.
  std::size_t padded_rows(int rows) const {
    const auto unit = static_cast<std::size_t>(padding * group);
    return (static_cast<std::size_t>(rows) + unit - 1) / unit * unit;
  }
  std::size_t panels(int column_count) const {
    return (static_cast<std::size_t>(column_count) + width() - 1) / width();
  }
  std::size_t panel_elements(int rows) const { return padded_rows(rows) * width(); }
  std::size_t elements(int rows, int column_count) const { return panels(column_count) * panel_elements(rows); }
};

}  // namespace encdec::kernels
