#pragma once

#include "encdec/layers/transformer/linear.h"

namespace encdec {

struct SimpleRecurrentUnitOptions {
  Dim model_dim = 0;                   // D, even
  Residual residual = Residual::none;  // the last input is added to the output
};

// Simpler simple recurrent unit (Kim et al. 2019, section 2.2), which replaces masked
// self-attention:
//   f_t = sigmoid(x_t Wfᵀ + bf)
//   c_t = f_t * c_{t-1} + (1 - f_t) * (x_t Wᵀ), with c_{-1} = 0
//   y_t = max(c_t, 0) (+ residual);  {x: [T, D]} or {x, residual: [T, D]} -> [T, D]
// Caches the state c of each position: half as keys, half as values. So sequences can be forked,
// reordered and truncated as with attention. A row's result is bitwise identical whether its
// sequence is passed token by token or at once.
// REQUIRES: each sequence's slot in state.cache_index has at least past + rows positions.
class SimpleRecurrentUnit final : public Layer {
 public:
  // Takes candidate.weight [D, D] (W) and forget_gate.{weight [D, D], bias [D]} (Wf, bf). Throws
  // WeightError, naming the tensor, and ShapeError if D is odd.
  SimpleRecurrentUnit(const WeightScope& weights, const SimpleRecurrentUnitOptions& options);

  std::string_view kind() const override { return "simple_recurrent_unit"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;
  KeyValueLayout key_value_form() const override { return {.heads = 1, .head_dim = options_.model_dim / 2}; }

 private:
  SimpleRecurrentUnitOptions options_;
  Linear candidate_and_gate_;  // D -> 2*D
};

}  // namespace encdec
