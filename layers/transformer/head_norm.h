#pragma once

#include <optional>

#include "encdec/engine/run_state.h"
#include "encdec/layers/transformer/add_norm.h"

namespace encdec {

// RMS norm of each head's queries or keys (Henry et al. 2020; Qwen 3, Gemma 3), before rotary
// positions. All heads share the weight.
class HeadNorm {
 public:
  HeadNorm() = default;  // no norm
  // Takes weight [K]. Throws WeightError, naming the tensor.
  HeadNorm(const WeightScope& weights, const std::optional<NormOptions>& options, Dim head_dim);

  // Normalises `heads` heads of each row, beginning at column `first`.
  void apply(Tensor& rows, Dim first, int heads, RunState& state) const;

 private:
  Tensor scale_;  // [K]; empty without a norm
  float epsilon_ = 0;
};

}  // namespace encdec
