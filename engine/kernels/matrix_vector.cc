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
// Rows of a panel between the one in use and the one asked for: 4 KB, about the latency of memory.
constexpr int kRowsAhead = 16;
constexpr int kFloatsPerLine = 16;

// sums[0, 64) = input [rows] times rows x 64 of a panel.
HWY_INLINE void multiply_chunk(const float* HWY_RESTRICT panel, const float* HWY_RESTRICT input, int rows,
                               V* HWY_RESTRICT sums) {
  const D d;
  for (int v = 0; v < kVectors; ++v) sums[v] = hn::Zero(d);
  for (int k = 0; k < rows; ++k, panel += kColumns) {
    for (int line = 0; line < kColumns; line += kFloatsPerLine) {
      hwy::Prefetch(panel + kRowsAhead * kColumns + line);  // beyond the end it does nothing
    }
    const V x = hn::Set(d, input[k]);
    for (int v = 0; v < kVectors; ++v) sums[v] = hn::MulAdd(x, hn::LoadU(d, panel + v * kLanes), sums[v]);
  }
}

void multiply_panels(const PanelMatrix& matrix, const float* HWY_RESTRICT input, const float* HWY_RESTRICT bias,
                     const float* HWY_RESTRICT residual, float* HWY_RESTRICT output) {
  const D d;
  const int padded_width = (matrix.input_width + 15) / 16 * 16;
  for (int column = 0; column < matrix.output_width; column += kColumns) {
    const float* panel = matrix.panels + static_cast<std::ptrdiff_t>(column) * padded_width;
    V sums[kVectors], chunk_sums[kVectors];
    multiply_chunk(panel, input, std::min(matrix.chunk, matrix.input_width), sums);
    for (int k = matrix.chunk; k < matrix.input_width; k += matrix.chunk) {
      const int rows = std::min(matrix.chunk, matrix.input_width - k);
      multiply_chunk(panel + static_cast<std::ptrdiff_t>(k) * kColumns, input + k, rows, chunk_sums);
      for (int v = 0; v < kVectors; ++v) sums[v] = hn::Add(sums[v], chunk_sums[v]);
    }
    HWY_ALIGN float row[kColumns];
    for (int v = 0; v < kVectors; ++v) hn::Store(sums[v], d, row + v * kLanes);
    const int count = std::min(kColumns, matrix.output_width - column);
    for (int i = 0; i < count; ++i) {
      float sum = row[i];
      if (bias != nullptr) sum += bias[column + i];
      if (residual != nullptr) sum += residual[column + i];
      output[column + i] = sum;
    }
  }
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace encdec::kernels {

HWY_EXPORT(multiply_panels);

void multiply_row(const PanelMatrix& matrix, const float* input, const float* bias, const float* residual,
                  float* output) {
  HWY_DYNAMIC_DISPATCH(multiply_panels)(matrix, input, bias, residual, output);
}

}  // namespace encdec::kernels
#endif
