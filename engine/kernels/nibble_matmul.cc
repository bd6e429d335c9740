#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "encdec/engine/kernels/lookahead.h"
#include "encdec/engine/kernels/matmul_kernels.h"
#include "encdec/engine/kernels/quantization.h"
#include "encdec/engine/kernels/row_tiles.h"
#include "encdec/engine/kernels/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encdec/engine/kernels/nibble_matmul.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// unpack_panel() writes a panel of codes as int8 weights (code - 8) * step.
#if HWY_TARGET == HWY_SCALAR

void unpack_panel(const std::uint8_t* HWY_RESTRICT codes, const std::int8_t* HWY_RESTRICT steps, int blocks,
                  PanelOrder order, std::int8_t* HWY_RESTRICT to) {
  const int group_bytes = order.columns * order.group;
  for (int group = 0; group < blocks * (kNibbleBlock / 2 / order.group); ++group, to += 2 * group_bytes) {
    const std::int8_t* of_block = steps + group / (kNibbleBlock / 2 / order.group) * order.columns;
    for (int i = 0; i < group_bytes; ++i, ++codes) {
      to[i] = static_cast<std::int8_t>((*codes % 16 - 8) * of_block[i / order.group]);
      to[group_bytes + i] = static_cast<std::int8_t>((*codes / 16 - 8) * of_block[i / order.group]);
    }
  }
}

#else

// A 16-bit lane holds two bytes of one column, which are four codes. The product of a code and |step| is at most 225
// and fits 8 bits, so one multiplication of a lane computes two products.
void unpack_panel(const std::uint8_t* HWY_RESTRICT codes, const std::int8_t* HWY_RESTRICT steps, int blocks,
                  PanelOrder order, std::int8_t* HWY_RESTRICT to) {
  const hn::CappedTag<std::uint8_t, 64> d8;
  const hn::Repartition<std::uint16_t, decltype(d8)> d16;
  const int group_bytes = order.columns * order.group, lanes = static_cast<int>(hn::Lanes(d8));
  const auto halves = hn::Set(d8, 15);
  HWY_ALIGN std::uint16_t sizes[kWideColumns * 2];
  HWY_ALIGN std::uint8_t signs[kWideColumns * 4], shifts[kWideColumns * 4];
  for (int block = 0; block < blocks; ++block, steps += order.columns) {
    for (int i = 0; i < group_bytes; ++i) {
      const int step = steps[i / order.group];
      sizes[i / 2] = static_cast<std::uint16_t>(std::abs(step));
      signs[i] = step < 0 ? 255 : 0;  // the complement of x is -x - 1
      shifts[i] = static_cast<std::uint8_t>(-8 * step + (step < 0 ? 1 : 0));
    }
    for (int group = 0; group < kNibbleBlock / 2 / order.group; ++group, codes += group_bytes, to += 2 * group_bytes) {
      for (int i = 0; i < group_bytes; i += lanes) {
        // Write the lower halves to this group of weights, and the upper halves to the next group.
        const auto both = hn::LoadU(d8, codes + i);
        const auto size = hn::Load(d16, sizes + i / 2);
        const auto weights = [&](hn::Vec<decltype(d8)> half) HWY_ATTR {
          const auto products = hn::BitCast(d8, hn::Mul(hn::BitCast(d16, hn::And(half, halves)), size));
          return hn::Add(hn::Xor(products, hn::Load(d8, signs + i)), hn::Load(d8, shifts + i));
        };
        const auto upper = hn::BitCast(d8, hn::ShiftRight<4>(hn::BitCast(d16, both)));
        hn::StoreU(weights(both), d8, reinterpret_cast<std::uint8_t*>(to) + i);
        hn::StoreU(weights(upper), d8, reinterpret_cast<std::uint8_t*>(to) + group_bytes + i);
      }
    }
  }
}

#endif

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3

constexpr int kColumns = kNarrowColumns;
constexpr int kTileRows = 4;
constexpr int kGroups = kNibbleBlock / 8;  // groups in a block; a group has 4 bytes (8 weights) per column
constexpr std::ptrdiff_t kGroupBytes = 4 * kColumns;

using D = hn::CappedTag<std::int32_t, 16>;
using D16 = hn::Repartition<std::int16_t, D>;
using D8 = hn::Repartition<std::uint8_t, D>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kVectors = kColumns / kLanes;

// Operands of a tile: rows of the input and a panel of weights.
struct Tile {
  const std::uint8_t* codes;
  const std::int8_t* steps;
  int blocks;
  const std::int8_t* input;
  std::ptrdiff_t input_stride;
  const std::int32_t* shifts;  // [rows, blocks]
};

// Multiplies bytes and adds neighbouring products in 16 bits. The sums fit 16 bits, because codes are at most 15.
HWY_INLINE hn::Vec<D16> multiply_pairs(hn::Vec<D8> codes, hn::Vec<D8> inputs) {
#if HWY_TARGET <= HWY_AVX3
  return hn::Vec<D16>{_mm512_maddubs_epi16(codes.raw, inputs.raw)};
#elif HWY_TARGET <= HWY_AVX2
  return hn::Vec<D16>{_mm256_maddubs_epi16(codes.raw, inputs.raw)};
#else
  return hn::Vec<D16>{_mm_maddubs_epi16(codes.raw, inputs.raw)};
#endif
}

// Adds both products of each pair of 16-bit integers to the accumulator of this pair.
HWY_INLINE hn::Vec<D> add_pairs(hn::Vec<D16> a, hn::Vec<D16> b, hn::Vec<D> sums) {
  auto unused = hn::Zero(D());
  return hn::ReorderWidenMulAccumulate(D(), a, b, sums, unused);
}

HWY_INLINE hn::Vec<D> set_four(const std::int8_t* inputs) {
  std::int32_t four;
  std::memcpy(&four, inputs, sizeof(four));
  return hn::Set(D(), four);
}

// Returns -8 * sum(x) for a block of inputs, which turns sum(code * x) into sum((code - 8) * x). The lower 16 bits are
// for inputs 0, 1, 4, 5, 8, 9 ..., the upper 16 bits for the other inputs, as in the sums of multiply_pairs().
std::int32_t shift_of(const std::int8_t* inputs) {
  const __m128i eights = _mm_set1_epi8(8);
  const auto* halves = reinterpret_cast<const __m128i*>(inputs);
  __m128i pairs = _mm_add_epi16(_mm_maddubs_epi16(eights, _mm_loadu_si128(halves)),
                                _mm_maddubs_epi16(eights, _mm_loadu_si128(halves + 1)));
  pairs = _mm_add_epi16(pairs, _mm_shuffle_epi32(pairs, 0b01'00'11'10));
  pairs = _mm_add_epi16(pairs, _mm_shuffle_epi32(pairs, 0b10'11'00'01));
  return _mm_cvtsi128_si32(_mm_sub_epi16(_mm_setzero_si128(), pairs));
}

// sums[r][c] = <row r of the input, column c of the panel>
template <int kRows, bool kPrefetchesNext>
HWY_INLINE void sum_products(const Tile& tile, NextPanel::Share next, std::int32_t* HWY_RESTRICT sums) {
  const D d;
  const D16 d16;
  const D8 d8;
  const auto lower_half = hn::Set(d8, 15);
  hn::Vec<D> totals[kRows][kVectors];
  ENCDEC_UNROLL
  for (int r = 0; r < kRows; ++r) {
    ENCDEC_UNROLL
    for (int v = 0; v < kVectors; ++v) totals[r][v] = hn::Zero(d);
  }
  const std::uint8_t* HWY_RESTRICT codes = tile.codes;
  const std::int8_t* HWY_RESTRICT steps = tile.steps;
  for (int block = 0; block < tile.blocks; ++block, steps += kColumns) {
    // Each 16-bit accumulator adds 16 terms (code - 8) * x of at most 8 * 127, so it does not overflow.
    hn::Vec<D16> pairs[kRows][kVectors];
    ENCDEC_UNROLL
    for (int r = 0; r < kRows; ++r) {
      ENCDEC_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        pairs[r][v] = hn::BitCast(d16, hn::Set(d, tile.shifts[r * tile.blocks + block]));
      }
    }
    ENCDEC_UNROLL
    for (int group = 0; group < kGroups; ++group, codes += kGroupBytes) {
      if constexpr (kPrefetchesNext) {
        next.ask();
      } else {
        prefetch_line(codes + prefetch_distance(1, kGroupBytes));
      }
      hn::Vec<D8> low[kVectors], high[kVectors];
      ENCDEC_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        // Split each byte into two codes: `low` for the first four inputs of the group, `high` for the last four.
        const auto both = hn::LoadU(d8, codes + v * 4 * kLanes);
        low[v] = hn::And(both, lower_half);
        high[v] =
            hn::And(hn::BitCast(d8, hn::ShiftRight<4>(hn::BitCast(hn::RebindToUnsigned<D16>(), both))), lower_half);
      }
      ENCDEC_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const std::int8_t* input = tile.input + r * tile.input_stride + block * kNibbleBlock + group * 8;
        const auto first = hn::BitCast(d8, set_four(input)), second = hn::BitCast(d8, set_four(input + 4));
        ENCDEC_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          const auto eight = hn::Add(multiply_pairs(low[v], first), multiply_pairs(high[v], second));
          pairs[r][v] = hn::Add(pairs[r][v], eight);
        }
      }
    }
    ENCDEC_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      // Multiply the block's accumulators by its steps.
      const auto wide = hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::int8_t, D>(), steps + v * kLanes));
      const auto twice = hn::Or(hn::ShiftLeft<16>(wide), hn::And(wide, hn::Set(d, 0xFFFF)));
      ENCDEC_UNROLL
      for (int r = 0; r < kRows; ++r) totals[r][v] = add_pairs(pairs[r][v], hn::BitCast(d16, twice), totals[r][v]);
    }
  }
  ENCDEC_UNROLL
  for (int r = 0; r < kRows; ++r) {
    ENCDEC_UNROLL
    for (int v = 0; v < kVectors; ++v) hn::StoreU(totals[r][v], d, sums + r * kColumns + v * kLanes);
  }
}

template <int kRows, bool kPrefetchesNext>
HWY_INLINE void multiply_tile(const PackedPanels& matrix, const MatMulRows& rows, const Tile& tile, int column,
                              NextPanel::Share next) {
  HWY_ALIGN std::int32_t sums[kRows * kColumns];
  sum_products<kRows, kPrefetchesNext>(tile, next, sums);
  finish_accumulators(
      matrix.epilogue,
      AccumulatorBlock<std::int32_t>{sums, kColumns, kRows, column, std::min(kColumns, matrix.output_width - column)},
      rows.output);
}

template <int kRows>
void multiply_tiles(const PackedPanels& matrix, const MatMulRows& rows, const std::int32_t* shifts, int blocks) {
  const int tiles = count_tiles<kRows>(rows.count);
  const std::ptrdiff_t panel_bytes = blocks * kGroups * kGroupBytes;
  const auto* codes = reinterpret_cast<const std::uint8_t*>(matrix.panels);
  const std::int8_t* steps = matrix.steps;
  for (int column = 0; column < matrix.output_width;
       column += kColumns, codes += panel_bytes, steps += blocks * kColumns) {
    const NextPanel next(codes + panel_bytes, static_cast<std::size_t>(panel_bytes), tiles, blocks * kGroups);
    for_each_tile<kRows>(rows.count, [&](auto height, int row, int number) HWY_ATTR {
      const MatMulRows part = rows.part(row, height());
      const Tile tile{codes,
                      steps,
                      blocks,
                      reinterpret_cast<const std::int8_t*>(part.input),
                      static_cast<std::ptrdiff_t>(part.input_bytes),
                      shifts + row * blocks};
      if (next.empty()) {
        multiply_tile<height(), false>(matrix, part, tile, column, {});
      } else {
        multiply_tile<height(), true>(matrix, part, tile, column, next.share(number));
      }
    });
  }
}

void multiply(const PackedPanels& matrix, const MatMulRows& rows, std::int32_t* shifts) {
  if (rows.count == 0) return;
  const int blocks = count_tiles<kNibbleBlock>(matrix.input_width);
  // Compute each block's shift once for all panels.
  for (int row = 0; row < rows.count; ++row) {
    const auto* input = reinterpret_cast<const std::int8_t*>(rows.part(row, 1).input);
    for (int block = 0; block < blocks; ++block) shifts[row * blocks + block] = shift_of(input + block * kNibbleBlock);
  }
  with_tile_height<kTileRows>(rows.count,
                              [&](auto height) HWY_ATTR { multiply_tiles<height()>(matrix, rows, shifts, blocks); });
}

bool adds_byte_pairs() {
  return true;
}

#else

void multiply(const PackedPanels& /*matrix*/, const MatMulRows& /*rows*/, std::int32_t* /*shifts*/) {}

bool adds_byte_pairs() {
  return false;
}

#endif

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace encdec::kernels {

HWY_EXPORT(multiply);
HWY_EXPORT(adds_byte_pairs);
HWY_EXPORT(unpack_panel);

bool has_byte_pairs() {
  return HWY_DYNAMIC_DISPATCH(adds_byte_pairs)();
}

void multiply_nibbles(const PackedPanels& matrix, const MatMulRows& rows, std::int32_t* shifts) {
  HWY_DYNAMIC_DISPATCH(multiply)(matrix, rows, shifts);
}

void multiply_unpacked(const PackedPanels& matrix, const MatMulRows& rows, PanelOrder order,
                       void (*kernel)(const PackedPanels&, const MatMulRows&), std::int8_t* panel) {
  const int blocks = count_tiles<kNibbleBlock>(matrix.input_width);
  const std::size_t weights = order.width() * static_cast<std::size_t>(blocks * kNibbleBlock);
  const auto* codes = reinterpret_cast<const std::uint8_t*>(matrix.panels);
  const std::int8_t* steps = matrix.steps;
  std::fill(panel + weights, panel + order.panel_elements(matrix.input_width), std::int8_t{0});
  // Unpack one panel at a time, and multiply by it.
  PackedPanels part = matrix;
  part.panels = reinterpret_cast<const std::byte*>(panel);
  MatMulRows part_rows = rows;
  // Advances a pointer to the columns of the next panel.
  const auto move = [&](auto*& of_columns) {
    if (of_columns != nullptr) of_columns += order.columns;
  };
  for (; part.output_width > 0; part.output_width -= order.columns) {
    HWY_DYNAMIC_DISPATCH(unpack_panel)(codes, steps, blocks, order, panel);
    PackedPanels one = part;
    one.output_width = std::min(order.columns, part.output_width);
    kernel(one, part_rows);
    codes += weights / 2;
    steps += blocks * order.columns;
    move(part.epilogue.bias);
    move(part.epilogue.column_scales);
    move(part.epilogue.offsets);
    move(part_rows.output.output);
    move(part_rows.output.residual);
  }
}

}  // namespace encdec::kernels
#endif
