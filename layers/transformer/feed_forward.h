#pragma once

#include <cstdint>

#include "encdec/layers/transformer/linear.h"

namespace encdec {

enum class FeedForwardKind : std::uint8_t {
  plain,  // project(activation(expand(x)))
  gated,  // project(activation(gate(x)) * expand(x)): gated linear units (Shazeer 2020)
};

struct FeedForwardOptions {
  FeedForwardKind kind = FeedForwardKind::plain;
  Dim model_dim = 0;                         // D
  Dim hidden_dim = 0;                        // F
  Activation activation = Activation::relu;  // applied to the hidden values or, if gated, to the gate
  Bias bias = Bias::required;                // biases of all projections
  Residual residual = Residual::none;        // the last input is added to the output
};

// Position-wise feed-forward network (Vaswani et al. 2017, section 3.3).
//   plain: y = project(activation(expand(x))) (+ residual)
//   gated: y = project(activation(gate(x)) * expand(x)) (+ residual)
//   {x: [R, D]} or {x, residual: [R, D]} -> [R, D], hidden [R, F]
class FeedForward final : public Layer {
 public:
  // Takes expand.{weight [F, D], bias [F]}, project.{weight [D, F], bias [D]} and, if gated,
  // gate.{weight [F, D], bias [F]}. Throws WeightError, naming the tensor.
  FeedForward(const WeightScope& weights, const FeedForwardOptions& options);

  std::string_view kind() const override { return "feed_forward"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  FeedForwardKind kind_;
  Activation activation_;
  Linear expand_;   // D -> F with the activation; if gated D -> 2*F without it, the gate first
  Linear project_;  // F -> D with the residual
  Residual residual_;
};

}  // namespace encdec
