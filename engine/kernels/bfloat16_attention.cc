#include "encdec/engine/kernels/bfloat16_attention.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "encdec/engine/kernels/lookahead.h"
#include "encdec/engine/kernels/unroll.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace encdec::kernels {

#if defined(__x86_64__)

namespace {

#define ENCDEC_BFLOAT16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")))

constexpr __mmask16 kAll = 0xFFFF;  // gcc 12 warns about uninitialised values in instructions without a mask

inline __mmask16 mask_of(int count) {
  return static_cast<__mmask16>(count >= 16 ? kAll : (1 << std::max(count, 0)) - 1);
}

// Loads the first `count` of 16 floats and sets the others to zero.
ENCDEC_BFLOAT16 inline __m512 some(const float* from, int count) {
  return _mm512_maskz_loadu_ps(mask_of(count), from);
}

// Returns 16 pairs (first[i], second[i]), rounded to bfloat16.
ENCDEC_BFLOAT16 inline __m512i pairs_of(__m512 first, __m512 second) {
  const __m512i low = _mm512_maskz_cvtepu16_epi32(kAll, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(first)));
  const __m512i high = _mm512_maskz_cvtepu16_epi32(kAll, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(second)));
  return _mm512_or_si512(low, _mm512_maskz_slli_epi32(kAll, high, 16));
}

// Rounds a row to bfloat16, two numbers per element of `to`. Pads with zeros to a multiple of 32 numbers.
ENCDEC_BFLOAT16 inline void round_row(const float* from, int count, std::uint32_t* to) {
  for (int i = 0; i < count; i += 32, to += 16) {
    const __m512 low = some(from + i, count - i), high = some(from + i + 16, count - i - 16);
    _mm512_storeu_si512(to, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
  }
}

// Rows of a panel, starting at `data`. A row has `columns` pairs or single numbers. The same row of the next head,
// which is prefetched, is `head_elements` numbers later.
struct Panel {
  const std::uint16_t* data;
  int columns;
  std::size_t head_elements;

  __mmask16 mask(int vector) const { return mask_of(columns - 16 * vector); }
};

template <int kRows, int kVectors>
using Sums = __m512[kRows][kVectors];

template <int kRows, int kVectors>
ENCDEC_BFLOAT16 inline void clear(Sums<kRows, kVectors>& sums) {
  ENCDEC_UNROLL
  for (int q = 0; q < kRows; ++q) {
    ENCDEC_UNROLL
    for (int v = 0; v < kVectors; ++v) sums[q][v] = _mm512_setzero_ps();
  }
}

// Adds to sums[q] the dot products of row q's first `pairs` pairs with the columns of the panel.
template <int kRows, int kVectors>
ENCDEC_BFLOAT16 inline void add_products(const std::uint32_t* const* rows, Panel panel, int pairs,
                                         Sums<kRows, kVectors>& sums) {
  __mmask16 masks[kVectors];
  for (int v = 0; v < kVectors; ++v) masks[v] = panel.mask(v);
  for (int i = 0; i < pairs; ++i, panel.data += 2 * panel.columns) {
    __m512bh columns[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      columns[v] = reinterpret_cast<__m512bh>(_mm512_maskz_loadu_epi32(masks[v], panel.data + 32 * v));
      prefetch_line(panel.data + panel.head_elements + 32 * v);
    }
    ENCDEC_UNROLL
    for (int q = 0; q < kRows; ++q) {
      const auto pair = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(rows[q][i])));
      ENCDEC_UNROLL
      for (int v = 0; v < kVectors; ++v) sums[q][v] = _mm512_dpbf16_ps(sums[q][v], pair, columns[v]);
    }
  }
}

// Like add_products(), but for a last number without a partner. Multiplies the first number of pair `pair` of each row
// by a panel row of single numbers.
template <int kRows, int kVectors>
ENCDEC_BFLOAT16 inline void add_halves(const std::uint32_t* const* rows, const Panel& panel, int pair,
                                       Sums<kRows, kVectors>& sums) {
  ENCDEC_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    const auto column = reinterpret_cast<__m512bh>(
        _mm512_maskz_cvtepu16_epi32(kAll, _mm256_maskz_loadu_epi16(panel.mask(v), panel.data + 16 * v)));
    ENCDEC_UNROLL
    for (int q = 0; q < kRows; ++q) {
      const auto number = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(rows[q][pair])));
      sums[q][v] = _mm512_dpbf16_ps(sums[q][v], number, column);
    }
  }
}

template <int kRows, int kVectors>
ENCDEC_BFLOAT16 inline void score_panel(const std::uint32_t* const* queries, const Panel& keys, int pairs, float scale,
                                        float* scores, std::ptrdiff_t stride) {
  Sums<kRows, kVectors> sums;
  clear<kRows, kVectors>(sums);
  add_products<kRows, kVectors>(queries, keys, pairs, sums);
  ENCDEC_UNROLL
  for (int q = 0; q < kRows; ++q) {
    ENCDEC_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      _mm512_storeu_ps(scores + q * stride + 16 * v, _mm512_mul_ps(sums[q][v], _mm512_set1_ps(scale)));
    }
  }
}

template <int kRows>
ENCDEC_BFLOAT16 void score_rows(const Bfloat16Head& head, const std::uint32_t* const* queries,
                                const std::uint16_t* keys, float scale, float* scores, std::ptrdiff_t stride) {
  const int pairs = head.dim_pairs();
  for (int first = 0; first < head.key_count; first += Bfloat16Head::kColumns) {
    const Panel panel{keys, std::min(head.key_count - first, Bfloat16Head::kColumns), head.keys()};
    if (panel.columns > 32) {
      score_panel<kRows, 4>(queries, panel, pairs, scale, scores + first, stride);
    } else {
      score_panel<kRows, 2>(queries, panel, pairs, scale, scores + first, stride);
    }
    keys += static_cast<std::ptrdiff_t>(2 * pairs) * panel.columns;
  }
}

// Writes dimensions [first, first + n) of the outputs, where n is the panel's number of columns.
template <int kRows, int kVectors>
ENCDEC_BFLOAT16 inline void weigh_panel(const std::uint32_t* const* weights, const Panel& values, int rows,
                                        const std::uint16_t* last, const float* normalizers, int first,
                                        float* const* outputs) {
  Sums<kRows, kVectors> sums;
  clear<kRows, kVectors>(sums);
  add_products<kRows, kVectors>(weights, values, rows / 2, sums);
  if (rows % 2 == 1) add_halves<kRows, kVectors>(weights, {last + first, values.columns, 0}, rows / 2, sums);
  ENCDEC_UNROLL
  for (int q = 0; q < kRows; ++q) {
    const __m512 normalizer = _mm512_set1_ps(normalizers[q]);
    ENCDEC_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      _mm512_mask_storeu_ps(outputs[q] + first + 16 * v, values.mask(v), _mm512_mul_ps(sums[q][v], normalizer));
    }
  }
}

template <int kRows>
ENCDEC_BFLOAT16 void weigh_rows(const Bfloat16Head& head, const std::uint32_t* const* weights, const float* normalizers,
                                const std::uint16_t* values, float* const* outputs) {
  const int rows = head.key_count;
  const std::uint16_t* last = values + head.values() - head.value_dim;
  for (int first = 0; first < head.value_dim; first += Bfloat16Head::kColumns) {
    const Panel panel{values, std::min(head.value_dim - first, Bfloat16Head::kColumns), head.values()};
    if (panel.columns > 32) {
      weigh_panel<kRows, 4>(weights, panel, rows, last, normalizers, first, outputs);
    } else {
      weigh_panel<kRows, 2>(weights, panel, rows, last, normalizers, first, outputs);
    }
    values += static_cast<std::ptrdiff_t>(rows / 2 * 2) * panel.columns;
  }
}

// Calls action(n), where n is an integral_constant with the value `count`.
template <class Action>
ENCDEC_BFLOAT16 inline void with_rows(int count, const Action& action) {
  static_assert(kBfloat16Queries == 6);
  switch (count) {
    case 1: return action(std::integral_constant<int, 1>());
    case 2: return action(std::integral_constant<int, 2>());
    case 3: return action(std::integral_constant<int, 3>());
    case 4: return action(std::integral_constant<int, 4>());
    case 5: return action(std::integral_constant<int, 5>());
    default: return action(std::integral_constant<int, 6>());
  }
}

}  // namespace

ENCDEC_BFLOAT16 void pack_bfloat16_keys(const Bfloat16Head& head, const float* keys, std::ptrdiff_t stride,
                                        std::uint16_t* packed) {
  const int pairs = head.dim_pairs();
  std::uint32_t row[Bfloat16Head::kLargestDim / 2];
  for (int first = 0; first < head.key_count; first += Bfloat16Head::kColumns) {
    const int columns = std::min(head.key_count - first, Bfloat16Head::kColumns);
    for (int column = 0; column < columns; ++column, keys += stride) {
      round_row(keys, head.head_dim, row);
      for (int i = 0; i < pairs; ++i) std::memcpy(packed + 2 * (i * columns + column), &row[i], sizeof(row[i]));
    }
    packed += static_cast<std::ptrdiff_t>(2 * pairs) * columns;
  }
}

ENCDEC_BFLOAT16 void pack_bfloat16_values(const Bfloat16Head& head, const float* values, std::ptrdiff_t stride,
                                          std::uint16_t* packed) {
  for (int first = 0; first < head.value_dim; first += Bfloat16Head::kColumns) {
    const int columns = std::min(head.value_dim - first, Bfloat16Head::kColumns);
    const float* row = values + first;
    for (int pair = 0; pair < head.key_count / 2; ++pair, row += 2 * stride, packed += 2 * columns) {
      for (int column = 0; column < columns; column += 16) {
        const int count = columns - column;
        _mm512_mask_storeu_epi32(packed + 2 * column, mask_of(count),
                                 pairs_of(some(row + column, count), some(row + stride + column, count)));
      }
    }
  }
  // Write the last value, which has no partner, as single numbers.
  if (head.key_count % 2 == 0) return;
  const float* last = values + (head.key_count - 1) * stride;
  for (int column = 0; column < head.value_dim; column += 16) {
    const int count = head.value_dim - column;
    _mm256_mask_storeu_epi16(packed + column, mask_of(count),
                             reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(some(last + column, count))));
  }
}

ENCDEC_BFLOAT16 void bfloat16_scores(const Bfloat16Head& head, const float* const* queries, int count,
                                     const std::uint16_t* keys, float scale, float* scores, std::ptrdiff_t stride) {
  assert(count <= kBfloat16Queries && head.head_dim <= Bfloat16Head::kLargestDim);
  std::uint32_t rounded[kBfloat16Queries][Bfloat16Head::kLargestDim / 2];
  const std::uint32_t* rows[kBfloat16Queries];
  for (int q = 0; q < count; ++q) {
    round_row(queries[q], head.head_dim, rounded[q]);
    rows[q] = rounded[q];
  }
  with_rows(count, [&](auto rows_at_once) { score_rows<rows_at_once>(head, rows, keys, scale, scores, stride); });
}

ENCDEC_BFLOAT16 void bfloat16_weighted_values(const Bfloat16Head& head, float* weights, std::ptrdiff_t stride,
                                              int count, const float* normalizers, const std::uint16_t* values,
                                              float* const* outputs) {
  const std::uint32_t* rows[kBfloat16Queries];
  for (int q = 0; q < count; ++q) {
    // Round in place. A pair takes half the space of its two floats, so no float is overwritten before it is read.
    auto* rounded = reinterpret_cast<std::uint32_t*>(weights + q * stride);
    round_row(weights + q * stride, head.key_count, rounded);
    rows[q] = rounded;
  }
  with_rows(count, [&](auto rows_at_once) { weigh_rows<rows_at_once>(head, rows, normalizers, values, outputs); });
}

#else

// These functions are never called on CPUs without the instructions.
void pack_bfloat16_keys(const Bfloat16Head&, const float*, std::ptrdiff_t, std::uint16_t*) {}
void pack_bfloat16_values(const Bfloat16Head&, const float*, std::ptrdiff_t, std::uint16_t*) {}
void bfloat16_scores(const Bfloat16Head&, const float* const*, int, const std::uint16_t*, float, float*,
                     std::ptrdiff_t) {}
void bfloat16_weighted_values(const Bfloat16Head&, float*, std::ptrdiff_t, int, const float*, const std::uint16_t*,
                              float* const*) {}

#endif

}  // namespace encdec::kernels
