#include "encdec/layers/transformer/convolution_1d.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "encdec/engine/base/error.h"
#include "encdec/engine/row_sharing.h"
#include "encdec/engine/run_state.h"
#include "encdec/layers/transformer/expectations.h"

namespace encdec {
namespace {

// Returns the options. Throws ConfigError if they are invalid.
const Convolution1dOptions& checked(const Convolution1dOptions& options) {
  if (options.stride < 1 || options.stride > options.kernel) {
    throw ConfigError(fmt::format("convolution_1d: kernel {} and stride {}, expected 1 <= stride <= kernel",
                                  options.kernel, options.stride));
  }
  if (options.padding < 0 || options.padding >= options.kernel) {
    throw ConfigError(fmt::format("convolution_1d: kernel {} and padding {}, expected 0 <= padding < kernel",
                                  options.kernel, options.padding));
  }
  return options;
}

// Reorders weights [N, C, kernel] to [N, kernel * C], because windows consist of copies of whole positions.
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

MatMul pack(const WeightScope& scope, const Convolution1dOptions& options) {
  const std::array weights = {
      WeightMatrix(by_position(scope.tensor("weight", {options.output_width, options.input_width, options.kernel})))};
  const Tensor bias = bias_of(scope, options.bias, options.output_width);
  return {weights, bias.empty() ? std::span<const Tensor>() : std::span(&bias, 1), {scope.pack(), options.activation}};
}

}  // namespace

Convolution1d::Convolution1d(const WeightScope& weights, const Convolution1dOptions& options)
    : options_(checked(options)), matmul_(pack(weights, options)) {}

Shape Convolution1d::output_shape(Shapes inputs) const {
  expect_count(inputs, 1);
  if (options_.positions_per_row % options_.stride != 0) {
    throw ShapeError(fmt::format("{} positions in a row, expected a multiple of the stride {}",
                                 options_.positions_per_row, options_.stride));
  }
  expect_rows(inputs[0], options_.positions_per_row * options_.input_width, "positions");
  return {inputs[0][0], options_.positions_per_row / options_.stride * options_.output_width};
}

void Convolution1d::forward(Inputs inputs, Tensor& output, RunState& state) const {
  expect_all_rows(state.sequences, inputs[0].rows());
  const Dim in = options_.positions_per_row, out = in / options_.stride;
  // View the input with one position per row.
  const Tensor positions = inputs[0].reshape({inputs[0].rows() * in, options_.input_width});
  Tensor outputs = output.reshape({output.rows() * out, options_.output_width});
  convolve(positions, 0, in, outputs, state);
}

int Convolution1d::output_positions(int positions) const {
  return static_cast<int>((positions + options_.stride - 1) / options_.stride);
}

Tensor Convolution1d::convolve(const Tensor& input, Dim first_column, RunState& state) const {
  int count = 0;
  for (const Sequence& sequence : state.sequences) count += output_positions(sequence.rows);
  Tensor output = state.scratch({count, options_.output_width});
  convolve(input, first_column, 1, output, state);
  return output;
}

void Convolution1d::convolve(const Tensor& input, Dim first_column, Dim positions_per_row, Tensor& output,
                             RunState& state) const {
  const Dim width = options_.input_width;
  Tensor windows = state.scratch({output.rows(), options_.kernel * width});
  // In a stream, `carried` holds the last `padding` positions of the previous chunk.
  std::vector<float>* carried = state.stream ? &state.carried() : nullptr;
  if (carried != nullptr) carried->resize(static_cast<std::size_t>(options_.padding * width));
  int first = 0;
  for (const Sequence& sequence : state.sequences) {
    const Dim positions = sequence.rows * positions_per_row, begin = sequence.first_row * positions_per_row;
    const int outputs = output_positions(static_cast<int>(positions));
    Tensor own = windows.slice(first, outputs);
    // Gather the window of each output.
    for_each_row(own, state.team(), [&](int row) {
      float* to = own.row(row);
      Dim position = row * options_.stride - options_.padding;
      for (Dim t = 0; t < options_.kernel; ++t, ++position, to += width) {
        if (position >= 0 && position < positions) {
          std::copy_n(input.row(begin + position) + first_column, width, to);
        } else if (position < 0 && carried != nullptr) {
          std::copy_n(carried->begin() + (options_.padding + position) * width, width, to);
        } else {
          std::fill_n(to, width, 0.0f);
        }
      }
    });
    first += outputs;
  }
  if (carried != nullptr) {
    // Keep the last `padding` positions for the next chunk.
    carried->insert(carried->end(), input.data<float>(), input.data<float>() + input.elements());
    carried->erase(carried->begin(), carried->end() - options_.padding * width);
  }
  matmul_.forward(windows, nullptr, output, state);
}

}  // namespace encdec
