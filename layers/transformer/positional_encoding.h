#pragma once

#include "encdec/layers/transformer/position_table.h"

namespace encdec {

// Adds to each row the encoding of its position in its sequence: y_r = x_r + table[offset + position_r].
//   {x: [R, D]}, with a pad token {x, token ids: int32 [R]} -> [R, D]
// Positions count from 0, and from the past of a sequence whose earlier tokens are cached.
class PositionalEncoding final : public Layer {
 public:
  // Sinusoidal, computed.
  PositionalEncoding(SinusoidLayout layout, Dim model_dim) : table_(layout, model_dim) {}
  // Takes what PositionTable takes. Throws WeightError, naming the tensor.
  PositionalEncoding(const WeightScope& weights, const PositionOptions& options) : table_(weights, options) {}

  std::string_view kind() const override { return "positional_encoding"; }
  Shape output_shape(Shapes inputs) const override;
  // Throws InputError for a position that a learned encoding does not have.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  PositionTable table_;
};

}  // namespace encdec
