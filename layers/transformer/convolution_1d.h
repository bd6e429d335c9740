#pragma once

#include "encdec/engine/base/weights.h"
#include "encdec/engine/layer.h"
#include "encdec/engine/matmul.h"
#include "encdec/layers/transformer/linear.h"

namespace encdec {

// Options of a Convolution1d.
struct Convolution1dOptions {
  Dim input_width = 0;                           // C
  Dim output_width = 0;                          // N
  Dim kernel = 3;                                // positions in a window
  Dim stride = 1;                                // positions from one window to the next
  Dim padding = 0;                               // zeros before each sequence; zeros after it fill the last window
  Bias bias = Bias::required;                    // added to each output
  Activation activation = Activation::identity;  // applied after the bias
  // Positions that lie side by side in one row of the input; a multiple of the stride. Example: stride 2 turns rows of
  // 2 positions into rows of 1, so that the sequence gets shorter but keeps its number of rows.
  Dim positions_per_row = 1;
};

// A convolution over the positions of each sequence (torch's Conv1d), as one matmul of gathered windows.
//   y_j = activation(bias + sum_t weight_t x_{j * stride + t - padding}),  t in [0, kernel)
//   {x: [R, P * C]} -> [R, P / stride * N], with P = positions_per_row
// A sequence of n positions has ceil(n / stride) outputs. Positions outside the sequence count as zeros, so that the
// last window is complete and every position is used. Sequences do not influence each other.
// With RunState::stream the rows are a piece of one sequence, and positions of the previous piece count in place of
// zeros. REQUIRES, for this: kernel - padding <= stride, so that no window reaches into the next row.
class Convolution1d final : public Layer {
 public:
  // Takes weight [N, C, kernel], as torch's Conv1d, and bias [N]. Throws WeightError, naming the tensor, if one is
  // missing or does not fit.
  // Throws ConfigError unless 1 <= stride <= kernel (a larger stride would skip positions) and 0 <= padding < kernel.
  Convolution1d(const WeightScope& weights, const Convolution1dOptions& options);

  std::string_view kind() const override { return "convolution_1d"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

  // Returns the number of outputs of a sequence of `positions` positions: ceil(positions / stride).
  int output_positions(int positions) const;

  // Convolves columns [first_column, first_column + C) of `input`. `input` has one position per row; state.sequences
  // says which rows form a sequence. Returns the outputs of all sequences, one sequence after another, as a matrix of
  // width N in scratch memory of the running node.
  Tensor convolve(const Tensor& input, Dim first_column, RunState& state) const;

 private:
  void convolve(const Tensor& input, Dim first_column, Dim positions_per_row, Tensor& output, RunState& state) const;

  Convolution1dOptions options_;
  MatMul matmul_;  // kernel * C -> N; the C inputs of each position lie together
};

}  // namespace encdec
