#pragma once

#include <cstddef>
#include <cstdint>

namespace encdec::kernels {

// How many columns lie together in a panel.
enum class PanelColumns : int {
  narrow = 16,  // with six rows of sums beside it a panel fills the registers of AVX2 and NEON
  wide = 64     // as in oneDNN's AVX-512 matmuls
};

// Columns of a wide panel, and the bytes from one group of rows to the next: 1 float32, 2 bfloat16 or 4 int8 a column.
inline constexpr int kWideColumns = static_cast<int>(PanelColumns::wide);
inline constexpr std::ptrdiff_t kWideGroupBytes = kWideColumns * 4;

// The order of a weight matrix [K, N] in memory: panels of columns one after the other, each of them K rows in groups,
// so that what one instruction multiplies for a column lies together. With `wide` columns and groups of 1, 2 and 4
// these are oneDNN's BA16a64b (float32), BA16a64b2a (bfloat16) and BA16a64b4a (int8). Missing rows and columns are
// zeros.
struct PanelOrder {
  PanelColumns columns = PanelColumns::narrow;
  int group = 1;  // rows that lie together

  std::size_t width() const { return static_cast<std::size_t>(columns); }
  std::size_t padded_rows(int rows) const {
    const std::size_t unit = 16 * static_cast<std::size_t>(group);
    return (static_cast<std::size_t>(rows) + unit - 1) / unit * unit;
  }
  std::size_t panels(int column_count) const {
    return (static_cast<std::size_t>(column_count) + width() - 1) / width();
  }
  std::size_t panel_elements(int rows) const { return padded_rows(rows) * width(); }
  std::size_t elements(int rows, int column_count) const { return panels(column_count) * panel_elements(rows); }
};

}  // namespace encdec::kernels
