#pragma once

#include "encdec/layers/transformer/linear.h"
#include "encdec/layers/transformer/position_table.h"

namespace encdec {

// The sizes of ConcatenatedPositions, and which positions.
struct ConcatenatedPositionOptions {
  Dim input_width = 0;         // D
  Dim output_width = 0;        // N
  Bias bias = Bias::required;  // b
  // Its model_dim is the width P of the encodings.
  PositionOptions positions = {};
};

// Appends to each row the encoding p of its position, and maps both: y_r = W [x_r; p_r] + b.
//   {x: [R, D]}, with a pad token {x, token ids: int32 [R]} -> [R, N]
// W = [W_x W_p] makes W_x x + W_p p of it, so PositionalEncoding, which adds, is the case W_x = W_p = I: what a network
// can do with positions that are added it can do with appended ones.
class ConcatenatedPositions final : public Layer {
 public:
  // Takes weight [N, D + P] and bias [N], and what PositionTable takes as positions.weight. Throws WeightError, naming
  // the tensor, if one is missing or does not fit, ConfigError as PositionTable does.
  ConcatenatedPositions(const WeightScope& weights, const ConcatenatedPositionOptions& options);

  std::string_view kind() const override { return "concatenated_positions"; }
  Shape output_shape(Shapes inputs) const override;
  // Throws InputError for a position that a learned encoding does not have.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  PositionTable positions_;
  Linear linear_;  // D + P -> N
};

}  // namespace encdec
