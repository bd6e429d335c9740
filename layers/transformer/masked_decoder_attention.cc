#include "encdec/layers/transformer/masked_decoder_attention.h"

namespace encdec {

MaskedDecoderAttention::MaskedDecoderAttention(const WeightScope& weights, const AttentionOptions& options)
    : options_(options), form_(key_value_form_of(options, weights.pack().precision)), projections_(weights, options) {}

void MaskedDecoderAttention::forward(Inputs inputs, Tensor& output, RunState& state) const {
  const Dim inner = options_.inner_dim();
  Tensor projected = projections_.project(inputs[0], state);
  Tensor attended = state.scratch({inputs[0].rows(), inner});

  KeyValueCache& cache = state.cache();
  for (const Sequence& sequence : state.sequences) {
    const auto cache_rows = state.cache_index.rows(sequence.slot);
    for (int r = 0; r < sequence.rows; ++r) {
      const float* row = projected.row(sequence.first_row + r);
      const auto position = static_cast<std::size_t>(sequence.past) + static_cast<std::size_t>(r);
      cache.write(cache_rows[position], row + inner, row + 2 * inner);
    }
  }
  attend_heads(options_, state.sequences, state, [&](const Sequence& sequence) {
    const auto* index = state.cache_index.rows(sequence.slot).data();
    kernels::HeadAttention head{.query = projected.row(sequence.first_row),
                                .query_stride = 3 * inner,
                                .output = attended.row(sequence.first_row),
                                .output_stride = inner,
                                .keys = cache.keys(index),
                                .values = cache.values(index),
                                .query_count = sequence.rows,
                                .key_count = sequence.past + sequence.rows};
    projections_.positions().set(head);
    head.limits.after = 0;
    return head;
  });
  projections_.finish(attended, inputs, output, state);
}

}  // namespace encdec
