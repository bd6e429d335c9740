#pragma once

#include <cstdint>

#include "encdec/engine/base/weights.h"
#include "encdec/engine/layer.h"

namespace encdec {

enum class NormKind : std::uint8_t {
  layer,  // (x - mean) / sqrt(variance + epsilon) * weight + bias, variance biased (Ba et al. 2016)
  rms,    // x / sqrt(mean(x^2) + epsilon) * weight (Zhang & Sennrich 2019)
};

// Which norm, of what width.
struct NormOptions {
  NormKind kind = NormKind::layer;  // the formula
  Dim width = 0;                    // D
  float epsilon = 1e-5f;            // keeps the root from zero
};

// Add & norm (Vaswani et al. 2017, section 5.4 and figure 1): the residual connection round a sub-layer f, and
// normalisation, in one pass.
//   norm last:  {x, f(x)} -> norm(x + f(x))
//   norm first: {x} -> norm(x), the input of f; the sum x + f(norm(x)) is made by f's last matmul, which takes x as its
//               residual (Xiong et al. 2020)
// All [R, D].
class AddNorm final : public Layer {
 public:
  // Takes weight [D], and bias [D] unless it is the rms norm. Throws WeightError, naming the tensor, if one is missing
  // or does not fit.
  AddNorm(const WeightScope& weights, const NormOptions& options);

  std::string_view kind() const override { return "add_norm"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  NormKind kind_;
  Tensor scale_;
  Tensor shift_;  // empty without a bias
  float epsilon_;
};

}  // namespace encdec
