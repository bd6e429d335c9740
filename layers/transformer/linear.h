#pragma once

#include <cstdint>
#include <span>

#include "encdec/engine/base/weights.h"
#include "encdec/engine/layer.h"
#include "encdec/engine/matmul.h"

namespace encdec {

enum class Bias : std::uint8_t {
  none,
  required,
  optional,  // zeros where the checkpoint has none
};

// The bias [width] of a scope; empty where there is none. Throws WeightError.
Tensor bias_of(const WeightScope& weights, Bias bias, Dim width);

// The sizes of a Linear, and what happens to its outputs.
struct LinearOptions {
  Dim input_width = 0;                           // K
  Dim output_width = 0;                          // N
  Bias bias = Bias::required;                    // b
  Activation activation = Activation::identity;  // after the bias
  Residual residual = Residual::none;            // after the activation
  float input_scale = 1.0f;                      // x is multiplied by it first: T5's logits
};

// Affine map: y = activation(scale x Wᵀ + b), plus a residual r if asked for;  {x: [R, K]} or {x: [R, K], r: [R, N]} ->
// [R, N].
class Linear final : public Layer {
 public:
  // Takes weight [N, K] and bias [N]. Throws WeightError, naming the tensor, if one is missing or does not fit.
  Linear(const WeightScope& weights, const LinearOptions& options);

  // Several projections of the same x merged into one, their outputs side by side: each scope has weight and bias of
  // its own, with options.output_width rows each. `biases` says which of them have one, where they differ.
  Linear(std::span<const WeightScope> weights, const LinearOptions& options, std::span<const Bias> biases = {});

  std::string_view kind() const override { return "linear"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

  // The same for layers that hold one as a part; `residual` is null if options.residual is none.
  void apply(const Tensor& input, const Tensor* residual, Tensor& output, RunState& state) const;

  // The weights of one output, in the precision that they are kept in: writes [K].
  void copy_weights(Dim output, float* weights) const { matmul_.copy_weights(output, weights); }

  Dim input_width() const { return matmul_.input_width(); }    // K
  Dim output_width() const { return matmul_.output_width(); }  // N, of all projections together

 private:
  MatMul matmul_;
  Residual residual_;
  float input_scale_;
};

}  // namespace encdec
