#include "encdec/layers/transformer/simple_recurrent_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "encdec/engine/base/error.h"
#include "encdec/engine/kernels/activation.h"
#include "encdec/layers/transformer/expectations.h"

namespace encdec {

SimpleRecurrentUnit::SimpleRecurrentUnit(const WeightScope& weights, const SimpleRecurrentUnitOptions& options)
    : options_(options),
      candidate_and_gate_(std::array{weights / "candidate", weights / "forget_gate"},
                          {.input_width = options.model_dim, .output_width = options.model_dim},
                          std::array{Bias::none, Bias::required}) {
  if (options.model_dim % 2 == 0) return;
  throw ShapeError(fmt::format("{}: width {}, expected an even number", weights.path(), options.model_dim));
}

Shape SimpleRecurrentUnit::output_shape(Shapes inputs) const {
  return shape_of_rows(inputs, options_.model_dim, options_.model_dim, options_.residual);
}

void SimpleRecurrentUnit::forward(Inputs inputs, Tensor& output, RunState& state) const {
  expect_all_rows(state.sequences, inputs[0].rows());
  const Dim width = options_.model_dim, half = width / 2;
  Tensor projected = state.scratch({inputs[0].rows(), 2 * width});
  candidate_and_gate_.apply(inputs[0], nullptr, projected, state);
  Tensor unit = state.scratch({width});
  float* c = unit.data<float>();
  KeyValueCache& cache = state.cache();
  for (const Sequence& sequence : state.sequences) {
    const auto cache_rows = state.cache_index.rows(sequence.slot);
    // Continue from the state of the last cached position.
    if (sequence.past == 0) {
      std::fill_n(c, width, 0.0f);
    } else {
      std::copy_n(cache.keys(cache_rows.data()).row<float>(sequence.past - 1), half, c);
      std::copy_n(cache.values(cache_rows.data()).row<float>(sequence.past - 1), half, c + half);
    }
    for (int r = 0; r < sequence.rows; ++r) {
      const float* row = projected.row(sequence.first_row + r);
      // c = f * c + (1 - f) * candidate, with f = sigmoid(gate).
      kernels::update_state(row, row + width, static_cast<int>(width), c);
      cache.write(cache_rows[static_cast<std::size_t>(sequence.past + r)], c, c + half);
      float* y = output.row(sequence.first_row + r);
      for (Dim i = 0; i < width; ++i) y[i] = std::max(c[i], 0.0f);
    }
  }
  if (options_.residual == Residual::none) return;
  const float* residual = inputs.back().data<float>();
  for (Dim i = 0; i < output.elements(); ++i) output.data<float>()[i] += residual[i];
}

}  // namespace encdec
