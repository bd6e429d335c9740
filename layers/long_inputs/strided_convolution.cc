#include "encdec/layers/long_inputs/strided_convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "encdec/engine/base/error.h"
#include "encdec/engine/row_sharing.h"
#include "encdec/engine/run_state.h"

namespace encdec {
namespace {

const StridedConvolutionOptions& checked(const StridedConvolutionOptions& options) {
  if (options.stride < 1 || options.stride > options.kernel) {
    throw ConfigError(fmt::format("strided_convolution: kernel {} and stride {}, expected 1 <= stride <= kernel",
                                  options.kernel, options.stride));
  }
  return options;
}

// Weights [N, C, kernel] as [N, kernel * C]: a window's rows need not be interleaved then.
Tensor by_position(const Tensor& weight) {
  const Dim outputs = weight.shape()[0], width = weight.shape()[1], kernel = weight.shape()[2];
  Tensor turned = Tensor::uninitialized({outputs, kernel * width});
  for (Dim n = 0; n < outputs; ++n) {
    const float* from = weight.data<float>() + n * width * kernel;
    for (Dim c = 0; c < width; ++c) {
      for (Dim t = 0; t < kernel; ++t) turned.row(n)[t * width + c] = *from++;
    }
  }
  return turned;
}

MatMul pack(const WeightScope& scope, const StridedConvolutionOptions& options) {
  const std::array weights = {
      WeightMatrix(by_position(scope.tensor("weight", {options.output_width, options.input_width, options.kernel})))};
  const Tensor bias = bias_of(scope, options.bias, options.output_width);
  return {weights, bias.empty() ? std::span<const Tensor>() : std::span(&bias, 1), {scope.pack()}};
}

}  // namespace

StridedConvolution::StridedConvolution(const WeightScope& weights, const StridedConvolutionOptions& options)
    : options_(checked(options)), matmul_(pack(weights, options)) {}

int StridedConvolution::output_rows(int rows) const {
  return static_cast<int>((rows + options_.stride - 1) / options_.stride);
}

Tensor StridedConvolution::convolve(const Tensor& input, Dim first_column, RunState& state) const {
  int count = 0;
  for (const Sequence& sequence : state.sequences) count += output_rows(sequence.rows);
  const Dim width = options_.input_width;
  Tensor windows = state.scratch({count, options_.kernel * width});
  int first = 0;
  for (const Sequence& sequence : state.sequences) {
    Tensor own = windows.slice(first, output_rows(sequence.rows));
    for_each_row(own, state.team(), [&](int row) {
      const Dim begin = row * options_.stride;
      const Dim rows = std::min(options_.kernel, sequence.rows - begin);
      float* to = own.row(row);
      for (Dim t = 0; t < rows; ++t, to += width) {
        std::copy_n(input.row(sequence.first_row + begin + t) + first_column, width, to);
      }
      std::fill_n(to, (options_.kernel - rows) * width, 0.0f);
    });
    first += output_rows(sequence.rows);
  }
  Tensor output = state.scratch({count, options_.output_width});
  matmul_.forward(windows, nullptr, output, state);
  return output;
}

}  // namespace encdec
