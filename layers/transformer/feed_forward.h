#pragma once

#include <cstdint>

#include "encdec/engine/thread_team.h"
#include "encdec/layers/transformer/linear.h"

namespace encdec {

enum class FeedForwardKind : std::uint8_t {
  plain,  // project(activation(expand(x)))
  gated,  // project(activation(gate(x)) * expand(x)): gated linear units (Shazeer 2020)
};

// The sizes of a FeedForward, and what it computes.
struct FeedForwardOptions {
  FeedForwardKind kind = FeedForwardKind::plain;  // the formula
  Dim model_dim = 0;                              // D
  Dim hidden_dim = 0;                             // F
  Activation activation = Activation::relu;       // of the hidden values, or of the gate
  Bias bias = Bias::required;                     // of all projections
  Residual residual = Residual::none;             // whether the last input is added to the output
};

// Position-wise feed-forward network (Vaswani et al. 2017, section 3.3).
//   y = as its kind says (+ residual);  {x: [R, D]} or {x, residual: [R, D]} -> [R, D], hidden [R, F]
class FeedForward final : public Layer {
 public:
  // Takes {expand,project}.{weight,bias}, and gate.{weight,bias} if it is gated. Throws WeightError, naming the tensor,
  // if one is missing or does not fit.
  FeedForward(const WeightScope& weights, const FeedForwardOptions& options);

  std::string_view kind() const override { return "feed_forward"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  // {gate [R, F], value [R, F]} side by side -> [R, F]
  void gate(const Tensor& gate_and_value, Tensor& output, ThreadTeam& team) const;

  FeedForwardKind kind_;
  Activation activation_;
  Linear expand_;   // D -> F, activation fused into the matmul; gated: D -> 2*F, the gate first, in one matmul
  Linear project_;  // F -> D, residual fused into the matmul
  Residual residual_;
};

}  // namespace encdec
