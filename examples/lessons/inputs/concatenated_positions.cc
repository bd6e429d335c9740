#include "inputs/concatenated_positions.h"

#include <algorithm>

namespace lessons {
ConcatenatedPositions::ConcatenatedPositions(const WeightScope& weights, const ConcatenatedPositionOptions& options)
    : positions_(weights / "positions", options.positions),
      linear_(weights, {.input_width = options.input_width + options.positions.model_dim,
                        .output_width = options.output_width,
                        .bias = options.bias}) {}

Shape ConcatenatedPositions::output_shape(Shapes inputs) const {
  positions_.check(inputs, linear_.input_width() - positions_.width());
  return {inputs[0][0], linear_.output_width()};
}

void ConcatenatedPositions::forward(Inputs inputs, Tensor& output, RunState& state) const {
  const Dim width = inputs[0].width();
  // Append the encoding of its position to each row, then project.
  Tensor both = state.scratch({inputs[0].rows(), linear_.input_width()});
  positions_.for_each_position(inputs, state, [&](int row, const float* encoding) {
    float* next = std::copy_n(inputs[0].row(row), width, both.row(row));
    std::copy_n(encoding, positions_.width(), next);
  });
  linear_.apply(both, nullptr, output, state);
}

}  // namespace lessons
