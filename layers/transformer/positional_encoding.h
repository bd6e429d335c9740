#pragma once

#include "encdec/layers/transformer/position_table.h"

namespace encdec {

// Adds the encoding of its position to each row (Vaswani et al. 2017, section 3.5).
//   y_r = x_r + table[offset + position_r]
//   {x: [R, D]} or, with a pad token, {x, token ids: int32 [R]} -> [R, D]
// See PositionTable for positions, weights and exceptions.
class PositionalEncoding final : public Layer {
 public:
  // Computes sinusoids; takes no weights.
  PositionalEncoding(SinusoidLayout layout, Dim model_dim) : table_(layout, model_dim) {}
  // Takes the weights of PositionTable.
  PositionalEncoding(const WeightScope& weights, const PositionOptions& options) : table_(weights, options) {}

  std::string_view kind() const override { return "positional_encoding"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  PositionTable table_;
};

}  // namespace encdec
