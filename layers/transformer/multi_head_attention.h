#pragma once

#include "encdec/layers/transformer/self_attention_projections.h"

namespace encdec {

// Multi-head self-attention (Vaswani et al. 2017, section 3.2.2): each row attends to all rows of
// its sequence, or to those within options.limits.
//   y = output(concat_h softmax(scale * q_h k_hᵀ + bias_h) v_h) (+ residual);  q, k, v from x
//   {x: [R, D]} or {x, residual: [R, D]} -> [R, D]
// With RunState::stream the rows are a chunk of one sequence. The output is then options.limits.after rows late, and
// each row is bitwise identical to the result for the whole sequence. REQUIRES, for this: options.in_pieces, both
// limits, no rotary and no relative positions.
class MultiHeadAttention final : public Layer {
 public:
  // Takes the weights of SelfAttentionProjections. Throws WeightError, naming the tensor.
  MultiHeadAttention(const WeightScope& weights, const AttentionOptions& options)
      : options_(options),
        projections_(weights, options),
        queries_(options.in_pieces ? kernels::QuerySet::some : all_queries(weights.pack().precision)) {}

  std::string_view kind() const override { return "multi_head_attention"; }
  Shape output_shape(Shapes inputs) const override { return projections_.output_shape(inputs); }
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  void attend_to_chunk(Inputs inputs, Tensor& output, RunState& state) const;  // attention_to_chunk.cc

  AttentionOptions options_;
  SelfAttentionProjections projections_;
  kernels::QuerySet queries_;
};

}  // namespace encdec
