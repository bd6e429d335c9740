#pragma once

#include "encdec/engine/base/weights.h"
#include "encdec/engine/layer.h"

namespace encdec {

struct GroupNormOptions {
  Dim channels = 0;           // C
  Dim positions_per_row = 1;  // P
  float epsilon = 1e-5f;
};

// Group normalisation with one group (Wu & He 2018; torch's GroupNorm): normalises each sequence
// over all its channels and positions together.
//   y = (x - mean) / sqrt(variance + epsilon) * weight_c + bias_c
//   {x: [R, P * C], positions: int32 [B]} -> [R, P * C]
// `positions` is the length of each sequence; later positions do not affect mean and variance.
class GroupNorm final : public Layer {
 public:
  // Takes weight [C] and bias [C]. Throws WeightError, naming the tensor.
  GroupNorm(const WeightScope& weights, const GroupNormOptions& options);

  std::string_view kind() const override { return "group_norm"; }
  Shape output_shape(Shapes inputs) const override;
  // Throws InputError unless each length is from 1 to P * rows.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  GroupNormOptions options_;
  Tensor scale_, shift_;
};

}  // namespace encdec
