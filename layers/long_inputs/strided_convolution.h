#pragma once

#include "encdec/engine/base/weights.h"
#include "encdec/engine/matmul.h"
#include "encdec/layers/transformer/linear.h"

namespace encdec {

// The sizes of a StridedConvolution.
struct StridedConvolutionOptions {
  Dim input_width = 0;         // C
  Dim output_width = 0;        // N
  Dim kernel = 3;              // positions that an output is made of
  Dim stride = 3;              // positions from an output to the next one
  Bias bias = Bias::required;  // of the outputs
};

// Shortens sequences: a convolution over the positions of each, as one matmul of gathered windows.
//   y_j = bias + sum_t weight_t x_{j * stride + t},  t in [0, kernel);  n rows -> ceil(n / stride) rows
// Rows past a sequence's end count as zeros, so that the last window is whole and no row is lost. A sequence's outputs
// do not depend on the others.
class StridedConvolution {
 public:
  // Takes weight [N, C, kernel], as torch's Conv1d, and bias [N]. Throws WeightError, naming the tensor, if one is
  // missing or does not fit, ConfigError unless 1 <= stride <= kernel: rows between windows would be lost.
  StridedConvolution(const WeightScope& weights, const StridedConvolutionOptions& options);

  // Rows that a sequence of n rows gives: ceil(n / stride).
  int output_rows(int rows) const;

  // Convolves columns [first_column, first_column + C) of `input`, whose rows are those of state.sequences: [M, N] in
  // scratch of the running node, the outputs of the sequences one after another.
  Tensor convolve(const Tensor& input, Dim first_column, RunState& state) const;

 private:
  StridedConvolutionOptions options_;
  MatMul matmul_;  // kernel * C -> N, position by position
};

}  // namespace encdec
