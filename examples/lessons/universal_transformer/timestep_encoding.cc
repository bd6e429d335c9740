#include "universal_transformer/timestep_encoding.h"

#include <fmt/format.h>

#include "encdec/engine/base/error.h"
#include "encdec/engine/row_sharing.h"
#include "encdec/layers/transformer/expectations.h"

namespace lessons {

Shape TimestepEncoding::output_shape(Shapes inputs) const {
  expect_count(inputs, 2);
  expect_rows(inputs[0], steps_.width(), "input");
  if (inputs[1] != Shape{1}) throw ShapeError(fmt::format("step has shape {}, expected [1]", to_string(inputs[1])));
  return inputs[0];
}

void TimestepEncoding::forward(Inputs inputs, Tensor& output, RunState& state) const {
  expect_integers(inputs[1], "step");
  const std::int32_t step = inputs[1].data<std::int32_t>()[0];
  if (step < 0) throw InputError(fmt::format("step {}, expected 0 or more", step));
  // `beyond` holds the encoding if the step is not in the table.
  Tensor beyond;
  const float* encoding = steps_.row(step, beyond, state);
  const Dim width = steps_.width();
  for_each_row(output, state.team(), [&](int row) {
    const float* input = inputs[0].row(row);
    float* sum = output.row(row);
    for (Dim i = 0; i < width; ++i) sum[i] = input[i] + encoding[i];
  });
}

}  // namespace lessons
