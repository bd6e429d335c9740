#pragma once

#include "encdec/layers/transformer/attention_positions.h"
#include "encdec/layers/transformer/head_norm.h"
#include "encdec/layers/transformer/linear.h"

namespace encdec {

// The weights and common steps of self-attention, masked or not.
class SelfAttentionProjections {
 public:
  // Takes query.{weight [H*K, D], bias [H*K]}, {key,value}.{weight [G*K, D], bias [G*K]} with G
  // key/value heads, and output.{weight [D, H*K], bias [D]}, with biases as options.bias and
  // options.key_bias require. Also takes the weights of AttentionPositions and, with
  // options.head_norm, {query,key}_norm.weight [K]. Throws WeightError, naming the tensor.
  SelfAttentionProjections(const WeightScope& weights, const AttentionOptions& options);

  // Returns [R, D]. Throws ShapeError if the inputs do not fit.
  Shape output_shape(Shapes inputs) const;

  // Computes x [R, D] -> [R, (H + 2*G)*K]: the queries of all heads, then the keys, then the
  // values. Normalises and rotates queries and keys.
  Tensor project(const Tensor& input, RunState& state) const;
  const AttentionPositions& positions() const { return positions_; }
  // Returns the attention within one sequence for attend_heads(): from `projected`, the result of
  // project(), to `attended` [R, H*K].
  kernels::HeadAttention within_sequence(const Sequence& sequence, Tensor& projected, Tensor& attended) const;
  // Computes the whole layer for attention within sequences. adjust(head) may set fields that
  // within_sequence() leaves at their defaults, such as `queries`.
  template <class Adjust>
  void attend(Inputs inputs, Tensor& output, RunState& state, const Adjust& adjust) const {
    Tensor projected = project(inputs[0], state);
    Tensor attended = state.scratch({inputs[0].rows(), options_.inner_dim()});
    attend_heads(options_, state.sequences, state, [&](const Sequence& sequence) {
      kernels::HeadAttention head = within_sequence(sequence, projected, attended);
      adjust(head);
      return head;
    });
    finish(attended, inputs, output, state);
  }
  // Projects attended [R, H*K] to output [R, D] and, for Residual::add, adds the last input.
  void finish(const Tensor& attended, Inputs inputs, Tensor& output, RunState& state) const;

 private:
  AttentionOptions options_;
  AttentionPositions positions_;
  HeadNorm query_norm_, key_norm_;
  Linear query_key_value_;  // D -> (H + 2*G)*K
  Linear output_;           // H*K -> D
};

}  // namespace encdec
