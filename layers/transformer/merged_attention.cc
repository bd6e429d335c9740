#include "encdec/layers/transformer/merged_attention.h"

#include <cmath>
#include <limits>
#include <vector>

#include "encdec/engine/base/error.h"
#include "encdec/engine/row_sharing.h"
#include "encdec/layers/transformer/expectations.h"

namespace encdec {

MergedAttention::MergedAttention(const WeightScope& weights, const AttentionOptions& options)
    : options_(options), form_(options, weights.pack().precision), own_(weights, options) {}

Shape MergedAttention::output_shape(Shapes inputs) const {
  if (inputs.size() != 2) throw ShapeError("expected a target and a key/value input");
  expect_rows(inputs[1], 2 * options_.key_value_dim(), "key/value input");
  return own_.output_shape(inputs.first(1));
}

void MergedAttention::forward(Inputs inputs, Tensor& output, RunState& state) const {
  const Dim rows = inputs[0].rows(), inner = options_.inner_dim(), head_dim = options_.head_width();
  const int heads = options_.heads;
  const Tensor projected = own_.projections().project(inputs[0], state);
  own_.remember(projected, state);
  Tensor attended = state.scratch({rows, inner}), of_source = state.scratch({rows, inner});
  Tensor log_sums = state.scratch({rows, heads}), source_log_sums = state.scratch({rows, heads});
  // Without source rows the log-sum-exp is -infinity, so the source's weight is 0.
  std::fill_n(source_log_sums.data<float>(), source_log_sums.elements(), -std::numeric_limits<float>::infinity());
  const auto attend = [&](const AttentionObserver& observer, const AttentionObserver& source_observer) {
    own_.attend(projected, attended, &log_sums, state, &observer);
    const auto describe = [&](const Sequence& sequence) {
      kernels::HeadAttention head = form_.attention(inputs[1], sequence);
      head.query = projected.row(sequence.first_row), head.query_stride = projected.width();
      head.output = of_source.row(sequence.first_row), head.output_stride = inner;
      head.log_sums = source_log_sums.row(sequence.first_row), head.log_sums_stride = heads;
      return head;
    };
    attend_heads(options_, sequences_with_sources(state), state, describe, &source_observer);
  };
  attend({}, {});
  // Returns the weight of self-attention in the average: the sum of its exponentials, divided by the total of both
  // sums.
  const auto share_of = [&](int row, int head) {
    return 1.0f / (1.0f + std::exp(source_log_sums.row(row)[head] - log_sums.row(row)[head]));
  };
  const AttentionObserver& observer = state.attention_observer();
  const AttentionObserver& source_observer = state.attention_observer(AttendedRows::source);
  if (observer || source_observer) {
    // Attend once more for the observers, whose attention weights must be scaled by the share.
    std::vector<float> scaled;
    const auto scaling = [&](const AttentionObserver& receiver, bool is_source) -> AttentionObserver {
      if (!receiver) return {};
      return [&, is_source](AttentionWeights attention) {
        const float share = share_of(attention.row, attention.head);
        scaled.assign(attention.weights.begin(), attention.weights.end());
        for (float& weight : scaled) weight *= is_source ? 1.0f - share : share;
        attention.weights = scaled;
        receiver(attention);
      };
    };
    attend(scaling(observer, false), scaling(source_observer, true));
  }
  // Average the results of self-attention and cross-attention with their weights.
  for_each_row(attended, state.team(), [&](int row) {
    for (int head = 0; head < heads; ++head) {
      const float share = share_of(row, head);
      float* own = attended.row(row) + head * head_dim;
      const float* other = of_source.row(row) + head * head_dim;
      for (Dim i = 0; i < head_dim; ++i) own[i] = share * own[i] + (1.0f - share) * other[i];
    }
  });
  own_.projections().finish(attended, inputs, output, state);
}

}  // namespace encdec
