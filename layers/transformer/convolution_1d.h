#pragma once

#include "encdec/engine/base/weights.h"
#include "encdec/engine/layer.h"
#include "encdec/engine/matmul.h"
#include "encdec/layers/transformer/linear.h"

namespace encdec {

struct Convolution1dOptions {
  Dim input_width = 0;   // C
  Dim output_width = 0;  // N
  Dim kernel = 3;        // positions in a window
  Dim stride = 1;        // positions from one window to the next
  Dim padding = 0;       // zeros before each sequence; zeros after it fill the last window
  Bias bias = Bias::required;
  Activation activation = Activation::identity;  // applied after the bias
  // Number of positions in an input row, P; a multiple of the stride. Example: with P = 2 and
  // stride 2, an output row has one position: the sequence gets shorter, but keeps its rows.
  Dim positions_per_row = 1;
};

// A convolution over the positions of each sequence (torch's Conv1d), as one matmul of gathered
// windows.
//   y_j = activation(bias + sum_t weight_t x_{j * stride + t - padding}),  t in [0, kernel)
//   {x: [R, P * C]} -> [R, P / stride * N]
// A sequence of n positions has ceil(n / stride) outputs. Positions outside of the sequence are
// zeros, so the last window is complete and every position is used. Sequences do not affect each
// other.
// With RunState::stream the rows are a chunk of one sequence, and positions of the previous chunk
// replace zeros. REQUIRES, for this: kernel - padding <= stride (no window needs the next row).
class Convolution1d final : public Layer {
 public:
  // Takes weight [N, C, kernel], as in torch's Conv1d, and bias [N]. Throws WeightError, naming the
  // tensor.
  // Throws ConfigError unless 1 <= stride <= kernel and 0 <= padding < kernel.
  Convolution1d(const WeightScope& weights, const Convolution1dOptions& options);

  std::string_view kind() const override { return "convolution_1d"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

  // Returns ceil(positions / stride), the number of outputs of a sequence.
  int output_positions(int positions) const;

  // Convolves columns [first_column, first_column + C) of `input`, with one position per row.
  // Returns the outputs of all sequences, one after another, as rows of width N in scratch memory.
  Tensor convolve(const Tensor& input, Dim first_column, RunState& state) const;

 private:
  void convolve(const Tensor& input, Dim first_column, Dim positions_per_row, Tensor& output, RunState& state) const;

  Convolution1dOptions options_;
  MatMul matmul_;  // kernel * C -> N
};

}  // namespace encdec
