#pragma once

#include "encdec/layers/transformer/linear.h"
#include "encdec/layers/transformer/position_table.h"

namespace lessons {
using namespace encdec;

// Options of ConcatenatedPositions.
struct ConcatenatedPositionOptions {
  Dim input_width = 0;         // D
  Dim output_width = 0;        // N
  Bias bias = Bias::required;  // b
  // Encodings that are appended; positions.model_dim is their width P.
  PositionOptions positions = {};
};

// Linear map of each row x_r together with the encoding p_r of its position: y_r = W [x_r; p_r] + b.
//   {x: [R, D]} or, with a pad token, {x, token ids: int32 [R]} -> [R, N]
// Appending is at least as general as adding. W = [W_x W_p] gives W_x x_r + W_p p_r + b, and PositionalEncoding
// computes the special case W = [I I].
class ConcatenatedPositions final : public Layer {
 public:
  // Takes weight [N, D + P] and bias [N], and positions.weight as PositionTable does. Throws WeightError, naming the
  // tensor, if one is missing or does not fit, and ConfigError as PositionTable does.
  ConcatenatedPositions(const WeightScope& weights, const ConcatenatedPositionOptions& options);

  std::string_view kind() const override { return "concatenated_positions"; }
  Shape output_shape(Shapes inputs) const override;
  // Throws InputError if a learned table has no row for a position.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  PositionTable positions_;
  Linear linear_;  // D + P -> N
};

}  // namespace lessons
