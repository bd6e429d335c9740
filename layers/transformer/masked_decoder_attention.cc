#include "encdec/layers/transformer/masked_decoder_attention.h"

namespace encdec {

MaskedDecoderAttention::MaskedDecoderAttention(const WeightScope& weights, const AttentionOptions& options)
    : options_(options), form_(key_value_layout_of(options, weights.pack().precision)), projections_(weights, options) {
  // The window of the cache includes the position of the query.
  if (options.limits.before != CacheRows::kAll) form_.window = options.limits.before + 1;
}

void MaskedDecoderAttention::forward(Inputs inputs, Tensor& output, RunState& state) const {
  const Tensor projected = projections_.project(inputs[0], state);
  Tensor attended = state.scratch({inputs[0].rows(), options_.inner_dim()});
  remember(projected, state);
  attend(projected, attended, nullptr, state);
  projections_.finish(attended, inputs, output, state);
}

void MaskedDecoderAttention::remember(const Tensor& projected, RunState& state) const {
  const Dim keys = options_.inner_dim(), values = keys + options_.key_value_dim();
  // Write the new positions to the cache rows that state.cache_index assigned.
  KeyValueCache& cache = state.cache();
  for (const Sequence& sequence : state.sequences) {
    const auto cache_rows = state.cache_index.of(form_.window).rows(sequence.slot);
    for (int r = 0; r < sequence.rows; ++r) {
      const float* row = projected.row(sequence.first_row + r);
      const auto position = static_cast<std::size_t>(sequence.past) + static_cast<std::size_t>(r);
      cache.write(cache_rows[position], row + keys, row + values);
    }
  }
}

void MaskedDecoderAttention::attend(const Tensor& projected, Tensor& attended, Tensor* log_sums, RunState& state,
                                    const AttentionObserver* observer) const {
  const CacheRows& rows = state.cache_index.of(form_.window);
  const KeyValueCache& cache = state.cache();
  const auto describe = [&](const Sequence& sequence) {
    const auto* index = rows.rows(sequence.slot).data();
    kernels::HeadAttention head{.query = projected.row(sequence.first_row),
                                .query_stride = projected.width(),
                                .output = attended.row(sequence.first_row),
                                .output_stride = attended.width(),
                                .keys = cache.keys(index),
                                .values = cache.values(index),
                                .query_count = sequence.rows,
                                .key_count = sequence.past + sequence.rows,
                                .log_sums = log_sums != nullptr ? log_sums->row(sequence.first_row) : nullptr,
                                .log_sums_stride = options_.heads};
    projections_.positions().set(head);
    head.limits.after = 0;  // a query sees no later positions
    return head;
  };
  attend_heads(options_, state.sequences, state, describe, observer);
}

}  // namespace encdec
