#include "encdec/layers/feed_forward.h"

#include "encdec/engine/error.h"
#include "encdec/engine/run_state.h"

namespace encdec {

FeedForward::FeedForward(const WeightScope& weights, const FeedForwardOptions& options)
    : expand_(weights / "expand",
              {.input_width = options.model_dim, .output_width = options.hidden_dim, .activation = options.activation}),
      project_(weights / "project",
               {.input_width = options.hidden_dim, .output_width = options.model_dim, .residual = options.residual}),
      residual_(options.residual) {}

Shape FeedForward::output_shape(Shapes inputs) const {
  if (inputs.empty()) throw ShapeError("no input");
  expect_rows(inputs[0], expand_.input_width(), "input");
  expect_inputs(inputs, 1, residual_, inputs[0]);
  return inputs[0];
}

void FeedForward::forward(Inputs inputs, Tensor& output, RunState& state) const {
  Tensor hidden = state.scratch({inputs[0].rows(), expand_.output_width()});
  expand_.apply(inputs[0], nullptr, hidden, state);
  project_.apply(hidden, residual_ == Residual::add ? &inputs[1] : nullptr, output, state);
}

}  // namespace encdec
