#include "encdec/engine/kernels/bfloat16_attention.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace encdec::kernels {

#if defined(__x86_64__)

namespace {

#define ENCDEC_BFLOAT16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")))

constexpr int kPanelVectors = Bfloat16Head::kColumns / 16;  // of a panel

constexpr __mmask16 kAll = 0xFFFF;  // gcc 12 warns of what the forms without a mask leave undefined

inline __mmask16 mask_of(int count) {
  return static_cast<__mmask16>(count >= 16 ? kAll : (1 << std::max(count, 0)) - 1);
}

// The first `count` of sixteen numbers, and zeros.
ENCDEC_BFLOAT16 inline __m512 some(const float* from, int count) {
  return _mm512_maskz_loadu_ps(mask_of(count), from);
}

// Sixteen pairs: of a number of `first` the one of `second`.
ENCDEC_BFLOAT16 inline __m512i pairs_of(__m512 first, __m512 second) {
  const __m512i low = _mm512_maskz_cvtepu16_epi32(kAll, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(first)));
  const __m512i high = _mm512_maskz_cvtepu16_epi32(kAll, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(second)));
  return _mm512_or_si512(low, _mm512_maskz_slli_epi32(kAll, high, 16));
}

// Numbers side by side as pairs; zeros beyond `count`, up to the next 32.
ENCDEC_BFLOAT16 inline void round_row(const float* from, int count, std::uint32_t* to) {
  for (int i = 0; i < count; i += 32, to += 16) {
    const __m512 low = some(from + i, count - i), high = some(from + i + 16, count - i - 16);
    _mm512_storeu_si512(to, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
  }
}

// sums[q][v] += the products of `pairs` pairs of each row with those of a panel.
template <int kRows>
ENCDEC_BFLOAT16 inline void add_products(const std::uint32_t* const* rows, const std::uint32_t* panel, int pairs,
                                         __m512 (&sums)[kRows][kPanelVectors]) {
  for (int i = 0; i < pairs; ++i, panel += Bfloat16Head::kColumns) {
    __m512bh columns[kPanelVectors];
    for (int v = 0; v < kPanelVectors; ++v) {
      columns[v] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(panel + 16 * v));
    }
    for (int q = 0; q < kRows; ++q) {
      const auto pair = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(rows[q][i])));
      for (int v = 0; v < kPanelVectors; ++v) sums[q][v] = _mm512_dpbf16_ps(sums[q][v], pair, columns[v]);
    }
  }
}

template <int kRows>
ENCDEC_BFLOAT16 void score_rows(const Bfloat16Head& head, const std::uint32_t* const* queries,
                                const std::uint32_t* keys, float scale, float* scores, std::ptrdiff_t stride) {
  const int pairs = head.dim_pairs();
  for (int panel = 0; panel < head.key_panels(); ++panel) {
    __m512 sums[kRows][kPanelVectors];
    for (auto& row : sums) std::fill(std::begin(row), std::end(row), _mm512_setzero_ps());
    add_products<kRows>(queries, keys, pairs, sums);
    keys += static_cast<std::ptrdiff_t>(pairs) * Bfloat16Head::kColumns;
    for (int q = 0; q < kRows; ++q) {
      float* to = scores + q * stride + panel * Bfloat16Head::kColumns;
      for (int v = 0; v < kPanelVectors; ++v)
        _mm512_storeu_ps(to + 16 * v, _mm512_mul_ps(sums[q][v], _mm512_set1_ps(scale)));
    }
  }
}

template <int kRows>
ENCDEC_BFLOAT16 void weigh_rows(const Bfloat16Head& head, const std::uint32_t* const* weights, const float* normalizers,
                                const std::uint32_t* values, float* const* outputs) {
  const int pairs = head.key_pairs();
  for (int first = 0; first < head.value_dim; first += Bfloat16Head::kColumns) {
    __m512 sums[kRows][kPanelVectors];
    for (auto& row : sums) std::fill(std::begin(row), std::end(row), _mm512_setzero_ps());
    add_products<kRows>(weights, values, pairs, sums);
    values += static_cast<std::ptrdiff_t>(pairs) * Bfloat16Head::kColumns;
    for (int q = 0; q < kRows; ++q) {
      const __m512 normalizer = _mm512_set1_ps(normalizers[q]);
      for (int v = 0; v < kPanelVectors; ++v) {
        const int column = first + 16 * v;
        _mm512_mask_storeu_ps(outputs[q] + column, mask_of(head.value_dim - column),
                              _mm512_mul_ps(sums[q][v], normalizer));
      }
    }
  }
}

// Calls action(rows) with that number as a constant.
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
                                        std::uint32_t* packed) {
  const int pairs = head.dim_pairs();
  std::uint32_t row[16];
  for (int key = 0; key < head.key_panels() * Bfloat16Head::kColumns; ++key) {
    std::uint32_t* to = packed +
                        static_cast<std::ptrdiff_t>(key / Bfloat16Head::kColumns) * pairs * Bfloat16Head::kColumns +
                        key % Bfloat16Head::kColumns;
    for (int pair = 0; pair < pairs; pair += 16) {
      const int count = key < head.key_count ? std::min(32, head.head_dim - 2 * pair) : 0;
      std::fill(std::begin(row), std::end(row), 0);
      round_row(keys + (count > 0 ? key * stride + 2 * pair : 0), count, row);
      for (int i = 0; i < std::min(16, pairs - pair); ++i) to[(pair + i) * Bfloat16Head::kColumns] = row[i];
    }
  }
}

ENCDEC_BFLOAT16 void pack_bfloat16_values(const Bfloat16Head& head, const float* values, std::ptrdiff_t stride,
                                          std::uint32_t* packed) {
  for (int first = 0; first < head.value_dim; first += Bfloat16Head::kColumns) {
    for (int pair = 0; pair < head.key_pairs(); ++pair) {
      const float* row = values + 2 * pair * stride;
      const int rows = std::clamp(head.key_count - 2 * pair, 0, 2);
      for (int column = first; column < first + Bfloat16Head::kColumns; column += 16, packed += 16) {
        const int count = head.value_dim - column;
        const __m512 even = some(rows > 0 ? row + column : values, rows > 0 ? count : 0);
        const __m512 odd = some(rows > 1 ? row + stride + column : values, rows > 1 ? count : 0);
        _mm512_storeu_si512(packed, pairs_of(even, odd));
      }
    }
  }
}

ENCDEC_BFLOAT16 void bfloat16_scores(const Bfloat16Head& head, const float* const* queries, int count,
                                     const std::uint32_t* keys, float scale, float* scores, std::ptrdiff_t stride) {
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
                                              int count, const float* normalizers, const std::uint32_t* values,
                                              float* const* outputs) {
  const std::uint32_t* rows[kBfloat16Queries];
  for (int q = 0; q < count; ++q) {
    // In place: what is written lies before what is still to be read.
    auto* rounded = reinterpret_cast<std::uint32_t*>(weights + q * stride);
    round_row(weights + q * stride, head.key_count, rounded);
    std::fill(rounded + (head.key_count + 31) / 32 * 16, rounded + head.key_pairs(), 0);
    rows[q] = rounded;
  }
  with_rows(count, [&](auto rows_at_once) { weigh_rows<rows_at_once>(head, rows, normalizers, values, outputs); });
}

#else

// Not called on CPUs without these instructions.
void pack_bfloat16_keys(const Bfloat16Head&, const float*, std::ptrdiff_t, std::uint32_t*) {}
void pack_bfloat16_values(const Bfloat16Head&, const float*, std::ptrdiff_t, std::uint32_t*) {}
void bfloat16_scores(const Bfloat16Head&, const float* const*, int, const std::uint32_t*, float, float*,
                     std::ptrdiff_t) {}
void bfloat16_weighted_values(const Bfloat16Head&, float*, std::ptrdiff_t, int, const float*, const std::uint32_t*,
                              float* const*) {}

#endif

}  // namespace encdec::kernels
