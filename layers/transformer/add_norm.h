#pragma once

#include <cstdint>

#include "encdec/engine/base/weights.h"
#include "encdec/engine/layer.h"
#include "encdec/layers/transformer/linear.h"

namespace encdec {

// Formulas for one row x of D numbers.
enum class NormKind : std::uint8_t {
  // (x - mean) / sqrt(variance + epsilon) * weight + bias, variance biased (Ba et al. 2016)
  layer,
  rms,  // x / sqrt(mean(x^2) + epsilon) * weight (Zhang & Sennrich 2019)
};

struct NormOptions {
  NormKind kind = NormKind::layer;
  Dim width = 0;  // D
  float epsilon = 1e-5f;
  Bias bias = Bias::required;  // bias of the layer norm
  bool less_one = false;       // true if the checkpoint stores weight - 1
  bool adds_last = false;      // adds the second input to the norm, not to the first input
};

// Returns the weight [width] of a norm. Throws WeightError, naming the tensor.
Tensor scale_of(const WeightScope& weights, const NormOptions& options, Dim width);

// Residual connection around a sub-layer f, and normalisation: "Add & Norm" (Vaswani et al. 2017,
// section 5.4 and figure 1).
//   norm last:      y = norm(x + f(x))       {x: [R, D], f(x): [R, D]} -> [R, D]
//   norm first:     y = norm(x), input of f  {x: [R, D]} -> [R, D]
//   norms around f: y = x + norm(f(norm(x))) {f(...): [R, D], x: [R, D]} -> [R, D], adds_last
// With norm first (Xiong et al. 2020) the last matmul of f adds its residual x: x + f(norm(x)).
class AddNorm final : public Layer {
 public:
  // Takes weight [D] and, for the layer norm, bias [D]. Throws WeightError, naming the tensor.
  AddNorm(const WeightScope& weights, const NormOptions& options);

  std::string_view kind() const override { return "add_norm"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  NormKind kind_;
  Tensor scale_;
  Tensor shift_;  // empty for the rms norm
  float epsilon_;
  bool adds_last_;
};

}  // namespace encdec
