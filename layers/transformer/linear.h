#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "encdec/engine/base/weights.h"
#include "encdec/engine/layer.h"
#include "encdec/engine/matmul.h"

namespace encdec {

enum class Bias : std::uint8_t {
  none,
  required,
  optional,  // zeros if the checkpoint has no bias
};

// Returns the bias [width], or an empty tensor if there is no bias. Throws WeightError if the bias does not fit, or if
// it is required and missing.
Tensor bias_of(const WeightScope& weights, Bias bias, Dim width);

struct LinearOptions {
  Dim input_width = 0;   // K
  Dim output_width = 0;  // N
  Bias bias = Bias::required;
  Activation activation = Activation::identity;  // applied after the bias
  Residual residual = Residual::none;            // added after the activation
  float input_scale = 1.0f;                      // factor of x, for T5's logits
  float output_cap = 0.0f;                       // c: outputs y become c * tanh(y / c); 0: no cap
};

// Affine map with an optional activation and residual r.
//   y = activation(input_scale * x Wᵀ + b) (+ r);  {x: [R, K]} or {x: [R, K], r: [R, N]} -> [R, N]
class Linear final : public Layer {
 public:
  // Takes weight [N, K] and bias [N]. Throws WeightError, naming the tensor.
  Linear(const WeightScope& weights, const LinearOptions& options);

  // Merges projections of the same x into one matmul with adjacent outputs. Each scope has a weight
  // [options.output_width, K] and a bias [options.output_width]. `biases` and `output_widths`
  // replace the options per scope unless they are empty.
  Linear(std::span<const WeightScope> weights, const LinearOptions& options, std::span<const Bias> biases = {},
         std::span<const Dim> output_widths = {});

  // Returns a map to some outputs, such as a shortlist of tokens, in the given order and with
  // bitwise identical results. REQUIRES: `outputs` is not empty.
  Linear with_outputs(std::span<const std::int32_t> outputs) const {
    return {matmul_.with_outputs(outputs), residual_, input_scale_, output_cap_};
  }

  std::string_view kind() const override { return "linear"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

  // Like forward(), for layers that contain a Linear. `residual` is null for Residual::none.
  void apply(const Tensor& input, const Tensor* residual, Tensor& output, RunState& state) const;

  // Writes the K weights of one output, with the rounding errors of the matmul.
  void copy_weights(Dim output, float* weights) const { matmul_.copy_weights(output, weights); }

  Dim input_width() const { return matmul_.input_width(); }    // K
  Dim output_width() const { return matmul_.output_width(); }  // N, of all merged projections

 private:
  Linear(MatMul matmul, Residual residual, float input_scale, float output_cap)
      : matmul_(std::move(matmul)), residual_(residual), input_scale_(input_scale), output_cap_(output_cap) {}

  MatMul matmul_;
  Residual residual_;
  float input_scale_;
  float output_cap_;
};

}  // namespace encdec
