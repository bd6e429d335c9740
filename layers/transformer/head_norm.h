#pragma once

#include <optional>

#include "encdec/engine/run_state.h"
#include "encdec/layers/transformer/add_norm.h"

namespace encdec {

// RMS norm of the queries or of the keys of each head (Henry et al. 2020; Qwen 3, Gemma 3), before rotary positions
// turn them. All heads have the same weight.
class HeadNorm {
 public:
  HeadNorm() = default;  // no norm
  // Takes weight [K]. Throws WeightError, naming the tensor, if it is missing or does not fit.
  HeadNorm(const WeightScope& weights, const std::optional<NormOptions>& options, Dim head_dim);

  // Normalises `heads` heads of each row, from column `first` on.
  void apply(Tensor& rows, Dim first, int heads, RunState& state) const;

 private:
  Tensor scale_;  // [K]; empty without a norm
  float epsilon_ = 0;
};

}  // namespace encdec
