#include "long_inputs/local_attention.h"

#include <fmt/format.h>

#include "encdec/engine/base/error.h"
#include "long_inputs/expect_no_past.h"

namespace lessons {

LocalAttention::LocalAttention(const WeightScope& weights, const LocalAttentionOptions& options)
    : window_(options.window), sides_(options.sides), projections_(weights, options.attention) {
  if (window_ < 0) throw ConfigError(fmt::format("local_attention: window {}, expected 0 or more", window_));
}

void LocalAttention::forward(Inputs inputs, Tensor& output, RunState& state) const {
  expect_no_past(state.sequences, kind());
  projections_.attend(inputs, output, state, [this](kernels::HeadAttention& head) {
    head.queries = kernels::QuerySet::all;
    head.limits = {.before = window_, .after = sides_ == WindowSides::before ? 0 : window_};
  });
}

}  // namespace lessons
