#include <algorithm>
#include <cassert>
#include <type_traits>

#include "encdec/engine/kernels/matmul_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace encdec::kernels {

#if defined(__x86_64__)

#define ENCDEC_TILES __attribute__((target("amx-tile,amx-bf16,amx-int8")))

namespace {

constexpr int kTileRows = 16;
constexpr std::ptrdiff_t kStepBytes = kTileRows * kWideGroupBytes;  // bytes of a panel per 64 bytes of a row
constexpr std::ptrdiff_t kTileBytesAhead = 2 * kStepBytes;          // prefetch distance

// The operand of LDTILECFG (Intel 64 and IA-32 Architectures Software Developer's Manual).
struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};

// Configures the eight tiles for both kinds of output blocks:
//   tall: up to 32 rows x 32 columns; accumulators are tiles 0, 1, 2 and 3, inputs 4 and 5, weights 6 and 7
//   flat: up to 16 rows x 64 columns; accumulators are tiles 0, 1, 2 and 3, input 4, weights 6 and 7 in turn
TileConfiguration configuration(int upper_rows, int lower_rows) {
  TileConfiguration result;
  const auto set = [&](int tile, int rows) {
    result.rows[tile] = static_cast<std::uint8_t>(rows);
    result.row_bytes[tile] = kTileRowBytes;
  };
  for (const int tile : {0, 1, 4}) set(tile, upper_rows);
  for (const int tile : {2, 3, 5}) set(tile, lower_rows == 0 ? upper_rows : lower_rows);
  for (const int tile : {6, 7}) set(tile, kTileRows);
  return result;
}

#define ENCDEC_MULTIPLY_TILE(sums, input, weights) \
  if constexpr (std::is_same_v<Sum, float>) {      \
    _tile_dpbf16ps(sums, input, weights);          \
  } else {                                         \
    _tile_dpbusd(sums, input, weights);            \
  }

// Multiplies up to 16 rows, starting at `row`, by the 64 columns of a panel.
template <class Sum>
ENCDEC_TILES void flat_block(const MatMulRows& rows, int row, const std::byte* panel, std::byte* sums) {
  const auto stride = static_cast<std::ptrdiff_t>(rows.input_bytes);
  const std::byte* input = rows.input + row * stride;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (std::ptrdiff_t byte = 0; byte < stride; byte += kTileRowBytes, panel += kStepBytes) {
    for (std::ptrdiff_t line = 0; line < kStepBytes; line += 64) {
      _mm_prefetch(reinterpret_cast<const char*>(panel + kTileBytesAhead + line), _MM_HINT_T0);
    }
    _tile_loadd(4, input + byte, stride);
    _tile_loadd(6, panel, kWideGroupBytes);
    ENCDEC_MULTIPLY_TILE(0, 4, 6);
    _tile_loadd(7, panel + 64, kWideGroupBytes);
    ENCDEC_MULTIPLY_TILE(1, 4, 7);
    _tile_loadd(6, panel + 128, kWideGroupBytes);
    ENCDEC_MULTIPLY_TILE(2, 4, 6);
    _tile_loadd(7, panel + 192, kWideGroupBytes);
    ENCDEC_MULTIPLY_TILE(3, 4, 7);
  }
  _tile_stored(0, sums, kWideGroupBytes);
  _tile_stored(1, sums + 64, kWideGroupBytes);
  _tile_stored(2, sums + 128, kWideGroupBytes);
  _tile_stored(3, sums + 192, kWideGroupBytes);
}

// Multiplies 17 to 32 rows, starting at `row`, by 32 columns (half a panel). If `row` is 0, also prefetches the same
// half of the next panel. The other half of this panel needs no prefetch, because it is in the same pages.
template <class Sum>
ENCDEC_TILES void tall_block(const MatMulRows& rows, int row, const std::byte* panel, std::byte* sums) {
  const auto stride = static_cast<std::ptrdiff_t>(rows.input_bytes);
  const std::byte* upper = rows.input + row * stride;
  const std::byte* lower = upper + kTileRows * stride;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (std::ptrdiff_t byte = 0; byte < stride; byte += kTileRowBytes, panel += kStepBytes) {
    if (row == 0) {
      const std::byte* ahead = panel + stride * kWideColumns;
      for (std::ptrdiff_t group = 0; group < kStepBytes; group += kWideGroupBytes) {
        _mm_prefetch(reinterpret_cast<const char*>(ahead + group), _MM_HINT_T1);
        _mm_prefetch(reinterpret_cast<const char*>(ahead + group + 64), _MM_HINT_T1);
      }
    }
    _tile_loadd(4, upper + byte, stride);
    _tile_loadd(6, panel, kWideGroupBytes);
    ENCDEC_MULTIPLY_TILE(0, 4, 6);
    _tile_loadd(7, panel + 64, kWideGroupBytes);
    ENCDEC_MULTIPLY_TILE(1, 4, 7);
    _tile_loadd(5, lower + byte, stride);
    ENCDEC_MULTIPLY_TILE(2, 5, 6);
    ENCDEC_MULTIPLY_TILE(3, 5, 7);
  }
  std::byte* const lower_sums = sums + kTileRows * kWideGroupBytes;
  _tile_stored(0, sums, kWideGroupBytes);
  _tile_stored(1, sums + 64, kWideGroupBytes);
  _tile_stored(2, lower_sums, kWideGroupBytes);
  _tile_stored(3, lower_sums + 64, kWideGroupBytes);
}

template <class Sum>
ENCDEC_TILES void multiply_by_tiles(const PackedPanels& matrix, const MatMulRows& rows) {
  constexpr int kGroup = std::is_same_v<Sum, float> ? 2 : 4;
  const std::size_t panel_bytes = PanelOrder{kWideColumns, kGroup}.panel_elements(matrix.input_width) * (4 / kGroup);
  assert(rows.input_bytes * kWideColumns == panel_bytes);
  alignas(64) Sum sums[2 * kTileRows * kWideColumns];
  int configured = 0;
  for (int column = 0; column < matrix.output_width; column += kWideColumns) {
    const std::byte* panel = matrix.panels + static_cast<std::size_t>(column / kWideColumns) * panel_bytes;
    for (int row = 0; row < rows.count; row += 2 * kTileRows) {
      const int count = std::min(2 * kTileRows, rows.count - row);
      if (count != configured) {
        const TileConfiguration tiles = configuration(std::min(count, kTileRows), std::max(0, count - kTileRows));
        // Make gcc 12 store `tiles`. It does not see that the next instruction reads them.
        asm volatile("" : : "r"(&tiles) : "memory");
        _tile_loadconfig(&tiles);
        configured = count;
      }
      const int width = std::min(kWideColumns, matrix.output_width - column);
      if (count <= kTileRows) {
        flat_block<Sum>(rows, row, panel, reinterpret_cast<std::byte*>(sums));
      } else {
        for (int half = 0; half < width; half += kWideColumns / 2) {
          tall_block<Sum>(rows, row, panel + half * 4, reinterpret_cast<std::byte*>(sums + half));
        }
      }
      // Finish 64 columns at once. In int8, finishing 32 columns twice takes 10 to 20 % more time.
      finish_accumulators(matrix.epilogue, AccumulatorBlock<Sum>{sums, kWideColumns, count, column, width},
                          rows.output.from(row));
    }
  }
  // Release the tiles, because context switches take longer while tiles hold data.
  _tile_release();
}

}  // namespace

void multiply_bfloat16_tiles(const PackedPanels& matrix, const MatMulRows& rows) {
  multiply_by_tiles<float>(matrix, rows);
}

void multiply_int8_tiles(const PackedPanels& matrix, const MatMulRows& rows) {
  constexpr int kFewRows = 4;
  rows.count <= kFewRows ? multiply_bytes(matrix, rows) : multiply_by_tiles<std::int32_t>(matrix, rows);
}

#endif

}  // namespace encdec::kernels
