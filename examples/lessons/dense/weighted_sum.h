#pragma once

#include "encdec/engine/layer.h"
#include "encdec/layers/lessons/dense/query_blocks.h"

namespace encdec {

// Attention pooling: the sum of the values, weighted by the attention weights of each query.
//   y_i = sum_j weights_ij * value_j;  {weights: [B, Q, K], values: [B, K, V]} -> [B, Q, V], or all without B
// If K = 0 the output is zeros. A weight of 0 times an infinite value is NaN.
class WeightedSum final : public Layer {
 public:
  std::string_view kind() const override { return "weighted_sum"; }
  // Throws ShapeError if the inputs do not fit.
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

  // Writes the output rows of the queries of a block, for layers that contain a WeightedSum.
  void sum(const QueryWeights& weights, const Tensor& values, Tensor& output) const;
};

}  // namespace encdec
