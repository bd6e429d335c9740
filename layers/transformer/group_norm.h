#pragma once

#include "encdec/engine/base/weights.h"
#include "encdec/engine/layer.h"

namespace encdec {

// Options of a GroupNorm.
struct GroupNormOptions {
  Dim channels = 0;           // C
  Dim positions_per_row = 1;  // P
  float epsilon = 1e-5f;      // keeps the divisor above zero
};

// Group normalisation with one group (Wu & He 2018; torch's GroupNorm): each sequence is normalised over all its
// channels and positions together.
//   y = (x - mean) / sqrt(variance + epsilon) * weight_c + bias_c
//   {x: [R, P * C], positions: int32 [B]} -> [R, P * C]
// `positions` has the length of each sequence; its later positions count neither for the mean nor for the variance.
class GroupNorm final : public Layer {
 public:
  // Takes weight [C] and bias [C]. Throws WeightError, naming the tensor, if one is missing or does not fit.
  GroupNorm(const WeightScope& weights, const GroupNormOptions& options);

  std::string_view kind() const override { return "group_norm"; }
  Shape output_shape(Shapes inputs) const override;
  // Throws InputError unless each sequence has between 1 and P * rows positions.
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  GroupNormOptions options_;
  Tensor scale_, shift_;
};

}  // namespace encdec
