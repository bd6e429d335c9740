#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "encdec/engine/base/weights.h"
#include "encdec/engine/layer.h"
#include "encdec/engine/matmul.h"

namespace encdec {

// Whether a linear map adds a bias.
enum class Bias : std::uint8_t {
  none,
  required,
  optional,  // zeros if the checkpoint has none
};

// Returns the bias [width] of a scope, or an empty tensor if there is none. Throws WeightError if the bias does not
// fit, or is required and missing.
Tensor bias_of(const WeightScope& weights, Bias bias, Dim width);

// Options of a Linear.
struct LinearOptions {
  Dim input_width = 0;                           // K
  Dim output_width = 0;                          // N
  Bias bias = Bias::required;                    // b
  Activation activation = Activation::identity;  // applied after the bias
  Residual residual = Residual::none;            // added after the activation
  float input_scale = 1.0f;                      // factor of x; used for T5's logits
  float output_cap = 0.0f;                       // c: an output y becomes c * tanh(y / c); 0: it stays
};

// Affine map, with an activation and a residual r if the options have them.
//   y = activation(input_scale * x Wᵀ + b) (+ r);  {x: [R, K]} or {x: [R, K], r: [R, N]} -> [R, N]
class Linear final : public Layer {
 public:
  // Takes weight [N, K] and bias [N]. Throws WeightError, naming the tensor, if one is missing or does not fit.
  Linear(const WeightScope& weights, const LinearOptions& options);

  // Merges several projections of the same x into one matmul; their outputs lie side by side. Each scope has its own
  // weight [options.output_width, K] and bias [options.output_width]. `biases` and `output_widths` have one entry for
  // each scope; if they are empty, options.bias and options.output_width apply to all.
  Linear(std::span<const WeightScope> weights, const LinearOptions& options, std::span<const Bias> biases = {},
         std::span<const Dim> output_widths = {});

  // Returns a map to some of the outputs, such as a shortlist of tokens, in the order given, with the same bits.
  // REQUIRES: there is at least one.
  Linear with_outputs(std::span<const std::int32_t> outputs) const {
    return {matmul_.with_outputs(outputs), residual_, input_scale_, output_cap_};
  }

  std::string_view kind() const override { return "linear"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

  // Computes the same as forward(), for layers that contain a Linear. `residual` is null if options.residual is none.
  void apply(const Tensor& input, const Tensor* residual, Tensor& output, RunState& state) const;

  // Writes the K weights of one output, rounded as the matmul keeps them.
  void copy_weights(Dim output, float* weights) const { matmul_.copy_weights(output, weights); }

  Dim input_width() const { return matmul_.input_width(); }    // K
  Dim output_width() const { return matmul_.output_width(); }  // N; the sum over merged projections

 private:
  Linear(MatMul matmul, Residual residual, float input_scale, float output_cap)
      : matmul_(std::move(matmul)), residual_(residual), input_scale_(input_scale), output_cap_(output_cap) {}

  MatMul matmul_;
  Residual residual_;
  float input_scale_;
  float output_cap_;
};

}  // namespace encdec
