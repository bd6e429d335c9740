#pragma once

#include <type_traits>

namespace encdec::kernels {

// Rows are multiplied in tiles of nearly equal height, so many rows as the registers hold sums for or one fewer: a low
// tile at the end would leave registers unused.

template <int kRows>
int count_tiles(int rows) {
  return (rows + kRows - 1) / kRows;
}

// Calls multiply(height) with the height of the highest tile of rows > 0, at most kMost, as an integral_constant.
template <int kMost, int kRows = kMost, class Multiply>
void with_tile_height(int rows, const Multiply& multiply) {
  const int tiles = count_tiles<kMost>(rows);
  if constexpr (kRows > 1) {
    if ((rows + tiles - 1) / tiles < kRows) return with_tile_height<kMost, kRows - 1>(rows, multiply);
  }
  multiply(std::integral_constant<int, kRows>());
}

// Calls multiply(height, row, tile) for each: tiles of kRows rows, then of one row fewer.
template <int kRows, class Multiply>
void for_each_tile(int rows, const Multiply& multiply) {
  const int tiles = count_tiles<kRows>(rows);
  const int high = rows - tiles * (kRows - 1);  // of them
  int row = 0, tile = 0;
  for (; tile < high; ++tile, row += kRows) multiply(std::integral_constant<int, kRows>(), row, tile);
  if constexpr (kRows > 1) {
    for (; tile < tiles; ++tile, row += kRows - 1) multiply(std::integral_constant<int, kRows - 1>(), row, tile);
  }
}

}  // namespace encdec::kernels
