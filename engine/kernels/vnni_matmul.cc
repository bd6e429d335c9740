#include <algorithm>
#include <cassert>
#include <cstring>
#include <iterator>

#include "encdec/engine/kernels/matmul_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace encdec::kernels {

#if defined(__x86_64__)

namespace {

#define ENCDEC_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))

constexpr int kVectors = 4;  // of a panel, 16 columns each
constexpr std::ptrdiff_t kBytesAhead = 1024;

// Four inputs as one number; the last bytes of a row may not be a whole group.
inline std::int32_t group_of(const std::uint8_t* inputs, int count) {
  std::int32_t four = 0;
  if (count >= 4) {
    std::memcpy(&four, inputs, 4);
  } else {
    std::memcpy(&four, inputs, static_cast<std::size_t>(count));
  }
  return four;
}

// sums[r][c] = <row r of the input, column c of kPanels panels>
template <int kRows, int kPanels>
ENCDEC_VNNI void sum_products(const PackedPanels& matrix, const MatMulRows& rows, const std::int8_t* panel,
                              std::int32_t* sums) {
  const auto panel_bytes =
      static_cast<std::ptrdiff_t>(PanelOrder{PanelColumns::wide, 4}.panel_elements(matrix.input_width));
  __m512i totals[kRows][kPanels * kVectors];
  for (auto& row : totals) std::fill(std::begin(row), std::end(row), _mm512_setzero_si512());
  const int groups = (matrix.input_width + 3) / 4;
  for (int group = 0; group < groups; ++group, panel += kWideGroupBytes) {
    __m512i inputs[kRows];
    for (int r = 0; r < kRows; ++r) {
      const auto* row =
          reinterpret_cast<const std::uint8_t*>(rows.input) + static_cast<std::size_t>(r) * rows.input_bytes;
      inputs[r] = _mm512_set1_epi32(group_of(row + 4 * group, matrix.input_width - 4 * group));
    }
    for (int p = 0; p < kPanels; ++p) {
      const std::int8_t* from = panel + p * panel_bytes;
      for (int v = 0; v < kVectors; ++v) {
        _mm_prefetch(reinterpret_cast<const char*>(from + kBytesAhead + v * 64), _MM_HINT_T0);
        const __m512i weights = _mm512_loadu_si512(from + v * 64);
        for (int r = 0; r < kRows; ++r) {
          totals[r][p * kVectors + v] = _mm512_dpbusd_epi32(totals[r][p * kVectors + v], inputs[r], weights);
        }
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kPanels * kVectors; ++v) {
      _mm512_storeu_si512(sums + (r * kPanels * kVectors + v) * 16, totals[r][v]);
    }
  }
}

template <int kRows, int kPanels>
void multiply_panels_beside(const PackedPanels& matrix, const MatMulRows& rows, int column) {
  constexpr int kWidth = kPanels * kWideColumns;
  alignas(64) std::int32_t sums[kRows * kWidth];
  const std::size_t panel_bytes = PanelOrder{PanelColumns::wide, 4}.panel_elements(matrix.input_width);
  const std::byte* panel = matrix.panels + static_cast<std::size_t>(column / kWideColumns) * panel_bytes;
  sum_products<kRows, kPanels>(matrix, rows, reinterpret_cast<const std::int8_t*>(panel), sums);
  finish_sums(matrix.epilogue,
              SumsBlock<std::int32_t>{sums, kWidth, kRows, column, std::min(kWidth, matrix.output_width - column)},
              rows.output);
}

// Panels side by side, as many as the registers hold sums for.
template <int kRows>
void multiply_rows(const PackedPanels& matrix, const MatMulRows& rows) {
  constexpr int kSums = 24;  // registers
  constexpr int kPanels = std::clamp(kSums / (kVectors * kRows), 1, 4);
  int column = 0;
  for (; column + (kPanels - 1) * kWideColumns < matrix.output_width; column += kPanels * kWideColumns) {
    multiply_panels_beside<kRows, kPanels>(matrix, rows, column);
  }
  for (; column < matrix.output_width; column += kWideColumns) multiply_panels_beside<kRows, 1>(matrix, rows, column);
}

}  // namespace

void multiply_few_rows(const PackedPanels& matrix, const MatMulRows& rows) {
  switch (rows.count) {
    case 0: return;
    case 1: return multiply_rows<1>(matrix, rows);
    case 2: return multiply_rows<2>(matrix, rows);
    case 3: return multiply_rows<3>(matrix, rows);
    case 4: return multiply_rows<4>(matrix, rows);
    default: assert(false);
  }
}

#else

void multiply_few_rows(const PackedPanels&, const MatMulRows&) {
  assert(false);
}

#endif

}  // namespace encdec::kernels
