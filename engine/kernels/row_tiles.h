#pragma once

#include <type_traits>

namespace encdec::kernels {

// Rows are multiplied in tiles of nearly equal height, because a low tile at the end would leave
// registers unused: 13 rows in tiles of at most 6 rows are 5 + 4 + 4, not 6 + 6 + 1.

template <int kRows>
int count_tiles(int rows) {
  return (rows + kRows - 1) / kRows;
}

// Splits `rows` into the fewest tiles of at most kMost rows and nearly equal height. Calls
// multiply(height) with the height of the tallest tile as an integral_constant. REQUIRES: rows > 0.
template <int kMost, int kRows = kMost, class Multiply>
void with_tile_height(int rows, const Multiply& multiply) {
  const int tiles = count_tiles<kMost>(rows);
  if constexpr (kRows > 1) {
    if ((rows + tiles - 1) / tiles < kRows) return with_tile_height<kMost, kRows - 1>(rows, multiply);
  }
  multiply(std::integral_constant<int, kRows>());
}

// Calls multiply(height, row, tile) for each tile: first the tiles of kRows rows, then the tiles of kRows - 1 rows.
template <int kRows, class Multiply>
void for_each_tile(int rows, const Multiply& multiply) {
  const int tiles = count_tiles<kRows>(rows);
  const int high = rows - tiles * (kRows - 1);  // number of tiles of kRows rows
  int row = 0, tile = 0;
  for (; tile < high; ++tile, row += kRows) multiply(std::integral_constant<int, kRows>(), row, tile);
  if constexpr (kRows > 1) {
    for (; tile < tiles; ++tile, row += kRows - 1) multiply(std::integral_constant<int, kRows - 1>(), row, tile);
  }
}

}  // namespace encdec::kernels
