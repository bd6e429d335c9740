#pragma once

#include "encdec/layers/transformer/attention_positions.h"
#include "encdec/layers/transformer/head_norm.h"
#include "encdec/layers/transformer/linear.h"

namespace encdec {

// The weights and shared steps of self-attention, masked or not: one matmul for queries, keys and values, the positions
// and the output projection.
class SelfAttentionProjections {
 public:
  // Takes query.{weight [H*K, D], bias [H*K]}, {key,value}.{weight [G*K, D], bias [G*K]}, where G is the number of
  // key/value heads, and output.{weight [D, H*K], bias [D]}; options.bias and options.key_bias say which biases exist.
  // Also takes the weights of AttentionPositions and, with options.head_norm, {query,key}_norm.weight [K]. Throws
  // WeightError, naming the tensor, if one is missing or does not fit.
  SelfAttentionProjections(const WeightScope& weights, const AttentionOptions& options);

  // Returns [R, D], the shape of x, of the residual and of the output. Throws ShapeError if the inputs do not fit.
  Shape output_shape(Shapes inputs) const;

  // Computes queries, keys and values: x [R, D] -> [R, (H + 2*G)*K], the queries of all heads, then the keys, then the
  // values. Queries and keys are normalised and turned.
  Tensor project(const Tensor& input, RunState& state) const;
  const AttentionPositions& positions() const { return positions_; }
  // Returns the attention of one sequence's rows to each other, as attend_heads() takes it. `projected` comes from
  // project(); the result of the attention goes to `attended` [R, H*K].
  kernels::HeadAttention within_sequence(const Sequence& sequence, Tensor& projected, Tensor& attended) const;
  // Computes the whole layer, for rows that attend to the rows of their own sequence. adjust(head) may set
  // fields that within_sequence() leaves at their defaults, such as `queries`.
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
  // Projects attended [R, H*K] to output [R, D], and adds the last input if options.residual is add.
  void finish(const Tensor& attended, Inputs inputs, Tensor& output, RunState& state) const;

 private:
  AttentionOptions options_;
  AttentionPositions positions_;
  HeadNorm query_norm_, key_norm_;
  Linear query_key_value_;  // D -> (H + 2*G)*K
  Linear output_;           // H*K -> D
};

}  // namespace encdec
