#include "encdec/layers/multi_head_attention.h"

namespace encdec {

MultiHeadAttention::MultiHeadAttention(const WeightScope& weights, const AttentionOptions& options)
    : options_(options), projections_(weights, options) {}

void MultiHeadAttention::forward(Inputs inputs, Tensor& output, RunState& state) const {
  const Dim inner = options_.inner_dim(), head_dim = options_.head_width();
  Tensor projected = projections_.project(inputs[0], state);
  Tensor attended = state.scratch({inputs[0].rows(), inner});
  attend_heads(options_, projections_.relative_position_bias(), state.sequences, state, [&](const Sequence& sequence) {
    float* first = projected.row(sequence.first_row);
    return kernels::HeadAttention{.query = first,
                                  .query_stride = 3 * inner,
                                  .output = attended.row(sequence.first_row),
                                  .output_stride = inner,
                                  .keys = {.data = first + inner, .stride = 3 * inner, .head_stride = head_dim},
                                  .values = {.data = first + 2 * inner, .stride = 3 * inner, .head_stride = head_dim},
                                  .query_count = sequence.rows,
                                  .key_count = sequence.rows};
  });
  projections_.finish(attended, inputs, output, state);
}

}  // namespace encdec
