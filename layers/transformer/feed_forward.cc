#include "encdec/layers/transformer/feed_forward.h"

#include <vector>

#include "encdec/engine/kernels/activation.h"
#include "encdec/engine/row_sharing.h"
#include "encdec/layers/transformer/expectations.h"

namespace encdec {
namespace {

// Returns the scopes of the projections that are merged into `expand_`.
std::vector<WeightScope> expand_scopes(const WeightScope& weights, FeedForwardKind kind) {
  if (kind == FeedForwardKind::gated) return {weights / "gate", weights / "expand"};
  return {weights / "expand"};
}

}  // namespace

FeedForward::FeedForward(const WeightScope& weights, const FeedForwardOptions& options)
    : kind_(options.kind),
      activation_(options.activation),
      expand_(expand_scopes(weights, kind_),
              {.input_width = options.model_dim,
               .output_width = options.hidden_dim,
               .bias = options.bias,
               .activation = kind_ == FeedForwardKind::gated ? Activation::identity : activation_}),
      project_(weights / "project", {.input_width = options.hidden_dim,
                                     .output_width = options.model_dim,
                                     .bias = options.bias,
                                     .residual = options.residual}),
      residual_(options.residual) {}

Shape FeedForward::output_shape(Shapes inputs) const {
  return shape_of_rows(inputs, expand_.input_width(), project_.output_width(), residual_);
}

void FeedForward::forward(Inputs inputs, Tensor& output, RunState& state) const {
  const Dim rows = inputs[0].rows();
  Tensor hidden = state.scratch({rows, expand_.output_width()});
  expand_.apply(inputs[0], nullptr, hidden, state);
  if (kind_ == FeedForwardKind::gated) {
    // The merged projection wrote the gate, then the value.
    Tensor gated = state.scratch({rows, project_.input_width()});
    const int width = static_cast<int>(gated.width());
    for_each_row(gated, state.team(), [&](int row) {
      const float* gate_and_value = hidden.row(row);
      kernels::gate(activation_, gate_and_value, gate_and_value + width, width, gated.row(row));
    });
    hidden = gated;
  }
  project_.apply(hidden, residual_ == Residual::add ? &inputs[1] : nullptr, output, state);
}

}  // namespace encdec
