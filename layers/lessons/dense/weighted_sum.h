#pragma once

#include "encdec/engine/layer.h"
#include "encdec/layers/lessons/dense/query_blocks.h"

namespace encdec {

// Attention pooling: each query's weights applied to the values.  y_i = sum_j weights_ij * value_j
//   {weights: [B, Q, K], values: [B, K, V]} -> [B, Q, V], or all without B; zeros where K = 0
// A weight of 0 times an infinite value is not a number.
class WeightedSum final : public Layer {
 public:
  std::string_view kind() const override { return "weighted_sum"; }
  // Throws ShapeError.
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

  // For layers that hold one as a part: the rows of `output` of a block of queries.
  void sum(const QueryWeights& weights, const Tensor& values, Tensor& output) const;
};

}  // namespace encdec
