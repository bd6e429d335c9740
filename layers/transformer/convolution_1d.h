#pragma once

#include <span>

#include "encdec/engine/base/weights.h"
#include "encdec/engine/layer.h"
#include "encdec/engine/matmul.h"
#include "encdec/layers/transformer/linear.h"

namespace encdec {

// The sizes of a Convolution1d, and what happens to its outputs.
struct Convolution1dOptions {
  Dim input_width = 0;                           // C
  Dim output_width = 0;                          // N
  Dim kernel = 3;                                // positions that an output is made of
  Dim stride = 1;                                // positions from an output to the next one
  Dim padding = 0;                               // zeros before a sequence; behind it there are as many as it takes
  Bias bias = Bias::required;                    // of the outputs
  Activation activation = Activation::identity;  // after the bias
  // Positions that lie side by side in a row of a graph's value, a multiple of the stride: so sequences keep their rows
  // where a convolution shortens them.
  Dim positions_per_row = 1;
};

// A convolution over the positions of each sequence (torch's Conv1d), as one matmul of gathered windows.
//   y_j = activation(bias + sum_t weight_t x_{j * stride + t - padding}),  t in [0, kernel);
//   n positions -> ceil(n / stride)
// Positions that a sequence does not have count as zeros, so that the last window is whole and no position is lost. A
// sequence's outputs do not depend on the others.
// As a layer, with P positions in a row: {x: [R, P * C]} -> [R, P / stride * N].
class Convolution1d final : public Layer {
 public:
  // Takes weight [N, C, kernel], as torch's Conv1d, and bias [N]. Throws WeightError, naming the tensor, if one is
  // missing or does not fit, ConfigError unless 1 <= stride <= kernel, since positions between windows would be lost,
  // and unless 0 <= padding < kernel.
  Convolution1d(const WeightScope& weights, const Convolution1dOptions& options);

  std::string_view kind() const override { return "convolution_1d"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

  // Positions that a sequence of n positions gives: ceil(n / stride).
  int output_positions(int positions) const;

  // Convolves columns [first_column, first_column + C) of `input`, whose rows are those of state.sequences, a position
  // each: [M, N] in scratch of the running node, the outputs of the sequences one after another.
  Tensor convolve(const Tensor& input, Dim first_column, RunState& state) const;

 private:
  void convolve(const Tensor& input, Dim first_column, Dim positions_per_row, Tensor& output, RunState& state) const;

  Convolution1dOptions options_;
  MatMul matmul_;  // kernel * C -> N, position by position
};

}  // namespace encdec
