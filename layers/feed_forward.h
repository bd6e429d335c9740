#pragma once

#include "encdec/layers/linear.h"

namespace encdec {

struct FeedForwardOptions {
  Dim model_dim = 0;   // D
  Dim hidden_dim = 0;  // F
  Activation activation = Activation::relu;
  Residual residual = Residual::none;
};

// Position-wise feed-forward network (Vaswani et al. 2017, section 3.3).
//   y = project(activation(expand(x))) (+ residual);  {x: [R, D]} or {x, residual: [R, D]} -> [R, D], hidden [R, F]
class FeedForward final : public Layer {
 public:
  // Takes {expand,project}.{weight,bias}. Throws WeightError, naming the tensor, if one is missing or does not fit.
  FeedForward(const WeightScope& weights, const FeedForwardOptions& options);

  std::string_view kind() const override { return "feed_forward"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  Linear expand_;   // D -> F, activation fused into the matmul
  Linear project_;  // F -> D, residual fused into the matmul
  Residual residual_;
};

}  // namespace encdec
