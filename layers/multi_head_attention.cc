#include "encdec/layers/multi_head_attention.h"

namespace encdec {

MultiHeadAttention::MultiHeadAttention(const WeightScope& weights, const AttentionOptions& options)
    : options_(options), projections_(weights, options) {}

void MultiHeadAttention::forward(Inputs inputs, Tensor& output, RunState& state) const {
  Tensor projected = projections_.project(inputs[0], state);
  Tensor attended = state.scratch({inputs[0].rows(), options_.inner_dim()});
  attend_heads(options_, projections_.relative_position_bias(), state.sequences, state,
               [&](const Sequence& sequence) { return projections_.among_themselves(sequence, projected, attended); });
  projections_.finish(attended, inputs, output, state);
}

}  // namespace encdec
