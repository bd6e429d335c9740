#pragma once

#include <cstdint>

#include "encdec/layers/transformer/linear.h"

namespace encdec {

// Formulas of the feed-forward network.
enum class FeedForwardKind : std::uint8_t {
  plain,  // project(activation(expand(x)))
  gated,  // project(activation(gate(x)) * expand(x)): gated linear units (Shazeer 2020)
};

// Options of a FeedForward.
struct FeedForwardOptions {
  FeedForwardKind kind = FeedForwardKind::plain;  // formula of the network
  Dim model_dim = 0;                              // D
  Dim hidden_dim = 0;                             // F
  Activation activation = Activation::relu;       // applied to the hidden values; if gated, to the gate
  Bias bias = Bias::required;                     // bias of all projections
  Residual residual = Residual::none;             // whether the layer adds its last input to its output
};

// Position-wise feed-forward network (Vaswani et al. 2017, section 3.3).
//   plain: y = project(activation(expand(x))) (+ residual)
//   gated: y = project(activation(gate(x)) * expand(x)) (+ residual)
//   {x: [R, D]} or {x, residual: [R, D]} -> [R, D], hidden [R, F]
class FeedForward final : public Layer {
 public:
  // Takes expand.{weight [F, D], bias [F]}, project.{weight [D, F], bias [D]} and, if gated, gate.{weight [F, D], bias
  // [F]}. Throws WeightError, naming the tensor, if one is missing or does not fit.
  FeedForward(const WeightScope& weights, const FeedForwardOptions& options);

  std::string_view kind() const override { return "feed_forward"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  FeedForwardKind kind_;
  Activation activation_;
  Linear expand_;   // D -> F and the activation; if gated D -> 2*F, the gate first, without activation
  Linear project_;  // F -> D and the residual
  Residual residual_;
};

}  // namespace encdec
