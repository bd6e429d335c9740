#include "encdec/engine/kernels/matrix_vector.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encdec/engine/kernels/matrix_vector.cc"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>
// after highway.h
#include <hwy/cache_control.h>

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

constexpr int kColumns = PanelMatrix::kPanelColumns;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kVectors = kColumns / kLanes;
// Panels that are read side by side: a processor fetches several streams ahead faster than one. As many as there are
// registers for the sums.
constexpr int kPanelsAtOnce = kLanes == 16 ? 4 : 1;
// Rows of a panel between the one in use and the one asked for.
constexpr int kRowsAhead = 4;
constexpr int kFloatsPerLine = 16;

// sums[p] = input [rows] times rows x 64 of panel p; the panels lie `stride` floats apart.
template <int kPanels>
HWY_INLINE void multiply_chunk(const float* HWY_RESTRICT panel, std::ptrdiff_t stride, const float* HWY_RESTRICT input,
                               int rows, V (*HWY_RESTRICT sums)[kVectors]) {
  const D d;
  V partial[kPanels][kVectors];
  for (int p = 0; p < kPanels; ++p) {
    for (int v = 0; v < kVectors; ++v) partial[p][v] = hn::Zero(d);
  }
  for (int k = 0; k < rows; ++k, panel += kColumns) {
    const V x = hn::Set(d, input[k]);
    for (int p = 0; p < kPanels; ++p) {
      const float* HWY_RESTRICT row = panel + p * stride;
      for (int line = 0; line < kColumns; line += kFloatsPerLine) {
        hwy::Prefetch(row + kRowsAhead * kColumns + line);  // beyond the end it does nothing
      }
      for (int v = 0; v < kVectors; ++v) partial[p][v] = hn::MulAdd(x, hn::LoadU(d, row + v * kLanes), partial[p][v]);
    }
  }
  for (int p = 0; p < kPanels; ++p) {
    for (int v = 0; v < kVectors; ++v) sums[p][v] = partial[p][v];
  }
}

// Columns [column, column + 64 * kPanels) of the output.
template <int kPanels>
HWY_INLINE void multiply_panels(const PanelMatrix& matrix, int column, const float* HWY_RESTRICT input,
                                const float* HWY_RESTRICT bias, const float* HWY_RESTRICT residual,
                                float* HWY_RESTRICT output) {
  const D d;
  const std::ptrdiff_t panel_floats = static_cast<std::ptrdiff_t>((matrix.input_width + 15) / 16 * 16) * kColumns;
  const float* panel = matrix.panels + column / kColumns * panel_floats;
  V sums[kPanels][kVectors], chunk_sums[kPanels][kVectors];
  multiply_chunk<kPanels>(panel, panel_floats, input, std::min(matrix.chunk, matrix.input_width), sums);
  for (int k = matrix.chunk; k < matrix.input_width; k += matrix.chunk) {
    const int rows = std::min(matrix.chunk, matrix.input_width - k);
    multiply_chunk<kPanels>(panel + static_cast<std::ptrdiff_t>(k) * kColumns, panel_floats, input + k, rows,
                            chunk_sums);
    for (int p = 0; p < kPanels; ++p) {
      for (int v = 0; v < kVectors; ++v) sums[p][v] = hn::Add(sums[p][v], chunk_sums[p][v]);
    }
  }
  HWY_ALIGN float row[kPanels * kColumns];
  for (int p = 0; p < kPanels; ++p) {
    for (int v = 0; v < kVectors; ++v) hn::Store(sums[p][v], d, row + p * kColumns + v * kLanes);
  }
  const int count = std::min(kPanels * kColumns, matrix.output_width - column);
  for (int i = 0; i < count; ++i) {
    float sum = row[i];
    if (bias != nullptr) sum += bias[column + i];
    if (residual != nullptr) sum += residual[column + i];
    output[column + i] = sum;
  }
}

void multiply_all_panels(const PanelMatrix& matrix, const float* HWY_RESTRICT input, const float* HWY_RESTRICT bias,
                         const float* HWY_RESTRICT residual, float* HWY_RESTRICT output) {
  int column = 0;
  for (; column + (kPanelsAtOnce - 1) * kColumns < matrix.output_width; column += kPanelsAtOnce * kColumns) {
    multiply_panels<kPanelsAtOnce>(matrix, column, input, bias, residual, output);
  }
  for (; column < matrix.output_width; column += kColumns) {
    multiply_panels<1>(matrix, column, input, bias, residual, output);
  }
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace encdec::kernels {

HWY_EXPORT(multiply_all_panels);

void multiply_row(const PanelMatrix& matrix, const float* input, const float* bias, const float* residual,
                  float* output) {
  HWY_DYNAMIC_DISPATCH(multiply_all_panels)(matrix, input, bias, residual, output);
}

}  // namespace encdec::kernels
#endif
