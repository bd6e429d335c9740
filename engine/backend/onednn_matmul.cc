#include "encdec/engine/backend/onednn_matmul.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "encdec/engine/backend/packed_matrix.h"

namespace encdec::backend {
namespace {

constexpr int kExactRows = 32;
constexpr std::array kPieceRows = {256, 128, 64, 32};
// What is computed into a dense tile first: this many elements of it stay in the second-level cache.
constexpr std::int64_t kTileElements = 262'144;

// Where our own kernel is faster than oneDNN's on AVX-512, because it reads weights ahead of their use: measured with
// weights in memory, 17 to 19 GB/s against 15 for up to three rows, and 5 to 20 % less time for the other numbers.
bool is_for_panels(int rows, int input_width) {
  const int fewest = input_width <= 1024 ? 7 : 24;
  return rows <= 3 || (rows >= fewest && rows <= 64);
}

}  // namespace

int onednn_pieces(const PackedMatrix& matrix, std::int64_t remaining, std::int64_t output_width) {
  if (remaining <= kExactRows) return static_cast<int>(remaining);
  const int width = matrix.spec().output_width;
  const bool tiled = width != output_width || matrix.spec().backend->precision == Precision::int8;
  const std::int64_t most = tiled ? std::max<std::int64_t>(kTileElements / width, kExactRows) : kPieceRows.front();
  return *std::ranges::find_if(kPieceRows, [&](int rows) { return rows <= remaining && rows <= most; });
}

// A primitive writes dense rows: where the output's lie apart, by way of a dense tile. One row is computed as the first
// of two equal ones where it would get other bits alone.
void multiply_by_onednn(const PackedMatrix& matrix, const kernels::MatMulRows& rows, MatMulPrimitives& primitives) {
  const MatMulSpec& spec = matrix.spec();
  const RowTrial& trial = matrix.trial();
  const kernels::OutputRows& output = rows.output;
  if (trial.chunk != 0 && is_for_panels(rows.count, spec.input_width)) {
    return kernels::multiply_panels(matrix.panels(), rows,
                                    {.columns = spec.backend->weights.columns, .chunk = trial.chunk});
  }
  const bool twice = rows.count == 1 && !trial.one_row_agrees;
  const bool dense = output.stride == spec.output_width || (rows.count == 1 && output.residual == nullptr);
  const bool in_place = dense && !twice;
  // Activations other than relu are left to our own kernels, so that a few rows, which they may carry, get the same
  // bits; residuals, where something else comes before them.
  const bool relu = spec.activation == Activation::relu;
  const bool fused = relu || spec.activation == Activation::identity;

  const int count = twice ? 2 : rows.count;
  const std::size_t tile_bytes =
      in_place ? 0 : static_cast<std::size_t>(count) * static_cast<std::size_t>(spec.output_width) * sizeof(float);
  std::byte* scratch = primitives.scratch(tile_bytes + (twice ? 2 * rows.input_bytes : 0));
  float* sums = in_place ? output.output : reinterpret_cast<float*>(scratch);
  std::byte* copies = scratch + tile_bytes;
  for (int copy = 0; twice && copy < 2; ++copy) {
    std::memcpy(copies + static_cast<std::size_t>(copy) * rows.input_bytes, rows.input, rows.input_bytes);
  }
  const kernels::MatMulEpilogue& epilogue = matrix.panels().epilogue;
  primitives.run({.input_width = spec.input_width,
                  .output_width = spec.output_width,
                  .precision = spec.backend->precision,
                  .bias = epilogue.bias != nullptr,
                  .relu = relu,
                  .residual = in_place && fused && output.residual != nullptr},
                 {.rows = count,
                  .input = twice ? copies : rows.input,
                  .weights = matrix.panels().panels,
                  .bias = epilogue.bias,
                  .residual = output.residual,
                  .output = sums});
  if (in_place && fused) return;
  kernels::finish_sums({.activation = fused ? Activation::identity : spec.activation},
                       kernels::SumsBlock<float>{sums, spec.output_width, rows.count, 0, spec.output_width}, output);
}

void multiply_integers_by_onednn(const PackedMatrix& matrix, const kernels::MatMulRows& rows,
                                 MatMulPrimitives& primitives) {
  const MatMulSpec& spec = matrix.spec();
  auto* sums = reinterpret_cast<std::int32_t*>(primitives.scratch(
      static_cast<std::size_t>(rows.count) * static_cast<std::size_t>(spec.output_width) * sizeof(std::int32_t)));
  primitives.run({.input_width = spec.input_width, .output_width = spec.output_width, .precision = Precision::int8},
                 {.rows = rows.count, .input = rows.input, .weights = matrix.panels().panels, .output = sums});
  kernels::finish_sums(matrix.panels().epilogue,
                       kernels::SumsBlock<std::int32_t>{sums, spec.output_width, rows.count, 0, spec.output_width},
                       rows.output);
}

}  // namespace encdec::backend
