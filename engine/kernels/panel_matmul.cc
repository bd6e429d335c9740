#include <algorithm>
#include <type_traits>

#include "encdec/engine/kernels/lookahead.h"
#include "encdec/engine/kernels/matmul_kernels.h"
#include "encdec/engine/kernels/row_tiles.h"
#include "encdec/engine/kernels/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encdec/engine/kernels/panel_matmul.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per instruction set
#include <hwy/highway.h>
// Include this header after highway.h.
#include "encdec/engine/kernels/vectors_inl.h"

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
// Number of registers for accumulators. The other registers hold weights and inputs.
constexpr int kAccumulators = kLanes == 16 || HWY_ARCH_ARM ? 24 : 12;
// Maximum number of panels that are read together, because several streams of memory are faster than one stream.
constexpr int kMaxPanels = 4;
constexpr int kMaxTileRows = 6;

// Sizes for panels with kColumns columns and weights of type Weight.
template <int kColumns, class Weight>
struct Layout {
  using WeightType = Weight;
  static constexpr int kWidth = kColumns;
  static constexpr int kVectors = kWidth / kLanes;
  static constexpr int kTileRows = std::clamp(kAccumulators / kVectors, 1, kMaxTileRows);

  // Returns the number of panels that are read together, so that their accumulators fill the registers.
  static constexpr int panels_for(int rows) { return std::clamp(kAccumulators / (kVectors * rows), 1, kMaxPanels); }
};

// Inputs [first, first + count) of each row. All rows are multiplied by the weights of one chunk before the next chunk.
struct Chunk {
  const PackedPanels& matrix;
  const MatMulRows& rows;
  int first;
  int count;
  float* widened;

  bool begins() const { return first == 0; }
  bool ends() const { return first + count == matrix.input_width; }
};

// Rows [row, row + rows) and columns [column, column + columns) of the output. Columns may be beyond its end.
struct Tile {
  int row;
  int rows;
  int column;
  int columns;
};

// Adds the results of previous chunks, which the output holds, to `count` accumulators of a row.
HWY_INLINE void add_chunks(const float* before, int count, float* HWY_RESTRICT sums) {
  const D d;
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, before + i), hn::LoadU(d, sums + i)), d, sums + i);
  }
  for (; i < count; ++i) sums[i] = before[i] + sums[i];
}

// Adds the results of previous chunks, applies the epilogue after the last chunk, and writes the output. The function
// is not inlined, because each size of tile would get a copy of it.
HWY_NOINLINE void finish(const Chunk& chunk, const Tile& tile, float* HWY_RESTRICT sums) {
  const int width = std::min(tile.columns, chunk.matrix.output_width - tile.column);
  OutputRows rows = chunk.rows.output.from(tile.row);
  if (!chunk.begins()) {
    for (int row = 0; row < tile.rows; ++row) {
      add_chunks(rows.output + row * rows.stride + tile.column, width, sums + row * tile.columns);
    }
  }
  if (!chunk.ends()) rows.residual = nullptr;
  finish_accumulators(chunk.ends() ? chunk.matrix.epilogue : MatMulEpilogue(),
                      AccumulatorBlock<float>{sums, tile.columns, tile.rows, tile.column, width}, rows);
}

template <class L>
std::ptrdiff_t panel_size(const Chunk& chunk) {
  return std::ptrdiff_t{(chunk.matrix.input_width + 15) / 16 * 16} * L::kWidth;
}

// Returns a chunk's weights in the panel at `column`.
template <class L>
const typename L::WeightType* weights_of(const Chunk& chunk, int column) {
  return reinterpret_cast<const typename L::WeightType*>(chunk.matrix.panels) +
         column / L::kWidth * panel_size<L>(chunk) + chunk.first * L::kWidth;
}

// Multiplies kRows rows of a chunk by kPanels panels, starting at `column`. `panel` has the weights of the first panel.
template <class L, int kRows, int kPanels, bool kPrefetchesNext>
HWY_INLINE void multiply_tile(const Chunk& chunk, int row, int column, const typename L::WeightType* HWY_RESTRICT panel,
                              NextPanel::Share next) {
  const D d;
  constexpr int kVectors = kPanels * L::kVectors;
  const std::ptrdiff_t input_width = chunk.matrix.input_width;
  using Weight = typename L::WeightType;
  const std::ptrdiff_t stride = panel_size<L>(chunk);
  const float* HWY_RESTRICT input = reinterpret_cast<const float*>(chunk.rows.input) + row * input_width + chunk.first;
  V sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(d);
  }
  // For each input, load the weights of all columns, then multiply them by each row.
  for (int k = 0; k < chunk.count; ++k, ++input, panel += L::kWidth) {
    V weights[kVectors];
    if constexpr (kPrefetchesNext) next.ask();
    for (int p = 0; p < kPanels; ++p) {
      const Weight* HWY_RESTRICT from = panel + p * stride;
      if constexpr (!kPrefetchesNext) {
        constexpr std::ptrdiff_t kStepBytes = L::kWidth * sizeof(Weight);
        const auto* ahead = reinterpret_cast<const std::byte*>(from) + prefetch_distance(kPanels, kStepBytes);
        for (std::ptrdiff_t byte = 0; byte < kStepBytes; byte += kLineBytes) {
          prefetch_line(ahead + byte);
        }
      }
      for (int v = 0; v < L::kVectors; ++v) weights[p * L::kVectors + v] = load(d, from + v * kLanes);
    }
    for (int r = 0; r < kRows; ++r) {
      const V x = hn::Set(d, input[r * input_width]);
      for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(x, weights[v], sums[r][v]);
    }
  }
  HWY_ALIGN float stored[kRows * kVectors * kLanes];
  ENCDEC_UNROLL
  for (int r = 0; r < kRows; ++r) {
    ENCDEC_UNROLL
    for (int v = 0; v < kVectors; ++v) hn::Store(sums[r][v], d, stored + (r * kVectors + v) * kLanes);
  }
  finish(chunk, {row, kRows, column, kVectors * kLanes}, stored);
}

// Returns the weights to prefetch while the panel at `column` is multiplied: the same chunk of the next panel. During
// the last panel, returns the next chunk of the first panel or, if there is no next chunk, the memory after the matrix.
// If a tile has several panels, returns an empty NextPanel.
template <class L, int kPanels>
NextPanel next_panel(const Chunk& chunk, int column, int tiles) {
  if (kPanels != 1) return {};
  constexpr std::size_t kRowBytes = L::kWidth * sizeof(typename L::WeightType);
  const auto panel_rows = static_cast<std::size_t>(chunk.matrix.input_width + 15) / 16 * 16;
  int panel = column / L::kWidth + 1, first = chunk.first;
  if (panel * L::kWidth >= chunk.matrix.output_width) {
    first = chunk.ends() ? 0 : chunk.first + chunk.count;
    if (!chunk.ends()) panel = 0;
  }
  const std::size_t before = static_cast<std::size_t>(panel) * panel_rows + static_cast<std::size_t>(first);
  return {chunk.matrix.panels + before * kRowBytes, kRowBytes * static_cast<std::size_t>(chunk.count), tiles,
          chunk.count};
}

// Multiplies all rows by kPanels panels. `panel` has weights in layout T: either L, or the layout of widened weights.
template <class L, class T, int kRows, int kPanels>
HWY_INLINE void multiply_tiles(const Chunk& chunk, int column, const typename T::WeightType* panel) {
  const int rows = chunk.rows.count;
  const NextPanel next = next_panel<L, kPanels>(chunk, column, count_tiles<kRows>(rows));
  for_each_tile<kRows>(rows, [&](auto height, int row, int tile) HWY_ATTR {
    if (next.empty()) {
      multiply_tile<T, height(), kPanels, false>(chunk, row, column, panel, {});
    } else {
      multiply_tile<T, height(), 1, true>(chunk, row, column, panel, next.share(tile));
    }
  });
}

// Widens the chunk's weights in the panel at `column` to float32, and writes them to chunk.widened.
template <class L>
void widen(const Chunk& chunk, int column) {
  const D d;
  const auto* HWY_RESTRICT from = weights_of<L>(chunk, column);
  for (int i = 0; i < chunk.count * L::kWidth; i += kLanes) hn::StoreU(load(d, from + i), d, chunk.widened + i);
}

// Minimum number of tiles for which weights are first widened to memory, so that not every tile widens them.
constexpr int kTilesWorthWidening = 3;

template <class L, int kRows>
void multiply_chunk(const Chunk& chunk) {
  constexpr int kPanels = L::panels_for(kRows);
  const int width = chunk.matrix.output_width;
  int column = 0;
  if constexpr (!std::is_same_v<typename L::WeightType, float>) {
    if (count_tiles<kRows>(chunk.rows.count) >= kTilesWorthWidening) {
      for (; column < width; column += L::kWidth) {
        widen<L>(chunk, column);
        multiply_tiles<L, Layout<L::kWidth, float>, kRows, 1>(chunk, column, chunk.widened);
      }
      return;
    }
  }
  for (; column + (kPanels - 1) * L::kWidth < width; column += kPanels * L::kWidth) {
    multiply_tiles<L, L, kRows, kPanels>(chunk, column, weights_of<L>(chunk, column));
  }
  for (; column < width; column += L::kWidth) {
    multiply_tiles<L, L, kRows, 1>(chunk, column, weights_of<L>(chunk, column));
  }
}

template <class L>
void multiply(const PackedPanels& matrix, const MatMulRows& rows, float* widened) {
  with_tile_height<L::kTileRows>(rows.count, [&](auto height) HWY_ATTR {
    // Multiply all rows by one chunk of weights before the next chunk, so that each weight is read from memory once.
    for (int k = 0; k < matrix.input_width; k += kPanelChunk) {
      multiply_chunk<L, height()>({matrix, rows, k, std::min(kPanelChunk, matrix.input_width - k), widened});
    }
  });
}

void multiply_any(const PackedPanels& matrix, const MatMulRows& rows, PanelForm form, float* widened) {
  using Half = hwy::float16_t;
  if (rows.count == 0) return;
  switch (form) {
    case PanelForm::narrow_float32: return multiply<Layout<kNarrowColumns, float>>(matrix, rows, widened);
    case PanelForm::wide_float32: return multiply<Layout<kWideColumns, float>>(matrix, rows, widened);
    case PanelForm::narrow_bfloat16: return multiply<Layout<kNarrowColumns, std::uint16_t>>(matrix, rows, widened);
    case PanelForm::wide_bfloat16: return multiply<Layout<kWideColumns, std::uint16_t>>(matrix, rows, widened);
    case PanelForm::narrow_float16: return multiply<Layout<kNarrowColumns, Half>>(matrix, rows, widened);
    case PanelForm::wide_float16: return multiply<Layout<kWideColumns, Half>>(matrix, rows, widened);
  }
}

bool has_half_instructions() {
  return HWY_TARGET <= HWY_AVX2 || HWY_ARCH_ARM_A64;
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace encdec::kernels {

HWY_EXPORT(multiply_any);
HWY_EXPORT(has_half_instructions);

void multiply_panels(const PackedPanels& matrix, const MatMulRows& rows, PanelForm form, float* widened) {
  HWY_DYNAMIC_DISPATCH(multiply_any)(matrix, rows, form, widened);
}

bool widens_float16() {
  return HWY_DYNAMIC_DISPATCH(has_half_instructions)();
}

}  // namespace encdec::kernels
#endif
