#include "encdec/layers/local_attention.h"

#include <fmt/format.h>

#include "encdec/engine/error.h"

namespace encdec {

LocalAttention::LocalAttention(const WeightScope& weights, const LocalAttentionOptions& options)
    : options_(options), projections_(weights, options.attention) {
  if (options.window < 0) {
    throw ConfigError(fmt::format("local_attention: window {}, expected 0 or more", options.window));
  }
}

void LocalAttention::forward(Inputs inputs, Tensor& output, RunState& state) const {
  expect_no_past(state.sequences, kind());
  const AttentionOptions& attention = options_.attention;
  Tensor projected = projections_.project(inputs[0], state);
  Tensor attended = state.scratch({inputs[0].rows(), attention.inner_dim()});
  attend_heads(attention, projections_.relative_position_bias(), state.sequences, state, [&](const Sequence& sequence) {
    kernels::HeadAttention head = projections_.among_themselves(sequence, projected, attended);
    head.window = options_.window;
    head.causal = options_.sides == WindowSides::before;
    return head;
  });
  projections_.finish(attended, inputs, output, state);
}

}  // namespace encdec
