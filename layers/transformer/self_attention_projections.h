#pragma once

#include "encdec/layers/transformer/attention_heads.h"
#include "encdec/layers/transformer/linear.h"

namespace encdec {

// What self-attention, masked or not, computes with: query, key and value of a row in one matmul, the output's, and the
// bias of relative positions.
class SelfAttentionProjections {
 public:
  // Takes {query,key,value}.{weight [H*K, D], bias [H*K]} and output.{weight [D, H*K], bias [D]}, the biases as
  // options.bias says, and relative_position_bias.weight [buckets, H] where there are relative positions.
  // Throws WeightError, naming the tensor, if one is missing or does not fit.
  SelfAttentionProjections(const WeightScope& weights, const AttentionOptions& options);

  // [R, D], also of the residual. Throws ShapeError.
  Shape output_shape(Shapes inputs) const;

  // x [R, D] -> [R, 3*H*K]: queries of all heads, then keys, then values.
  Tensor project(const Tensor& input, RunState& state) const;
  // What is added to the scores; may be none.
  const RelativePositionBias& relative_position_bias() const { return relative_position_bias_; }
  // A sequence of such rows whose rows attend to each other, into attended [R, H*K], as attend_heads takes it.
  kernels::HeadAttention among_themselves(const Sequence& sequence, Tensor& projected, Tensor& attended) const;
  // All of it, where the rows of a sequence attend to each other; limit(head) may restrict what they see.
  template <class Limit>
  void attend(Inputs inputs, Tensor& output, RunState& state, const Limit& limit) const {
    Tensor projected = project(inputs[0], state);
    Tensor attended = state.scratch({inputs[0].rows(), options_.inner_dim()});
    attend_heads(options_, state.sequences, state, [&](const Sequence& sequence) {
      kernels::HeadAttention head = among_themselves(sequence, projected, attended);
      limit(head);
      return head;
    });
    finish(attended, inputs, output, state);
  }
  // attended [R, H*K] -> output [R, D], plus the last input where a residual is added.
  void finish(const Tensor& attended, Inputs inputs, Tensor& output, RunState& state) const;

 private:
  AttentionOptions options_;
  RelativePositionBias relative_position_bias_;
  Linear query_key_value_;  // D -> 3*H*K
  Linear output_;           // H*K -> D
};

}  // namespace encdec
