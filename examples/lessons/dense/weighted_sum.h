#pragma once

#include "encdec/engine/layer.h"

namespace lessons {
using namespace encdec;

// Attention pooling: the sum of the values, weighted by the attention weights of each query.
//   y_i = sum_j weights_ij * value_j;  {weights: [B, Q, K], values: [B, K, V]} -> [B, Q, V], or all without B
// If K = 0 the output is zeros. A weight of 0 times an infinite value is NaN.
class WeightedSum final : public Layer {
 public:
  std::string_view kind() const override { return "weighted_sum"; }
  // Throws ShapeError if the inputs do not fit.
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

  // Writes the output row of one of all B*Q queries, for layers that contain a WeightedSum.
  void sum(Dim query, const float* weights, const Tensor& values, Tensor& output) const;
};

}  // namespace lessons
