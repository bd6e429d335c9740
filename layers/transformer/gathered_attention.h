#pragma once

#include "encdec/layers/transformer/attention_positions.h"
#include "encdec/layers/transformer/linear.h"

namespace encdec {

// MultiHeadAttention for callers that often need only the first row of each sequence: queries come
// from the gathered rows g, keys and values from all rows x.
//   y = output(concat_h softmax(scale * q_h k_hᵀ) v_h) (+ residual);  q = query(g), k, v from x
//   {g: [T, D], x: [S, D]} or {g, x, residual: [T, D]} -> [T, D]
// REQUIRES: g is the first row of each sequence, or all rows.
class GatheredAttention final : public Layer {
 public:
  // Takes the weights of SelfAttentionProjections. Throws WeightError, naming the tensor.
  GatheredAttention(const WeightScope& weights, const AttentionOptions& options);

  std::string_view kind() const override { return "gathered_attention"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  AttentionOptions options_;
  AttentionPositions positions_;
  kernels::QuerySet queries_;
  Linear query_;      // D -> H*K
  Linear key_value_;  // D -> 2*G*K, with G key/value heads
  Linear output_;     // H*K -> D
};

}  // namespace encdec
