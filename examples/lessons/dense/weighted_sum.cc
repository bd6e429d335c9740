#include "dense/weighted_sum.h"

#include <fmt/format.h>

#include <algorithm>

#include "dense/compared_rows.h"
#include "encdec/engine/base/error.h"

namespace lessons {

Shape WeightedSum::output_shape(Shapes inputs) const {
  if (inputs.size() != 2) throw ShapeError(fmt::format("{} inputs, expected weights and values", inputs.size()));
  const Shape &weights = inputs[0], &values = inputs[1];
  const int rank = weights.rank();
  if ((rank != 2 && rank != 3) || values.rank() != rank || batch_of(weights) != batch_of(values) ||
      weights.last() != values[-2]) {
    throw ShapeError(
        fmt::format("weights have shape {} and values {}, expected [batch, queries, keys] and [batch, keys, width], or "
                    "both without a batch",
                    to_string(weights), to_string(values)));
  }
  return rank == 3 ? Shape{weights[0], weights[1], values[2]} : Shape{weights[0], values[1]};
}

void WeightedSum::forward(Inputs inputs, Tensor& output, RunState& state) const {
  for_each_row(output, state.team(), [&](int query) { sum(query, inputs[0].row(query), inputs[1], output); });
}

void WeightedSum::sum(Dim query, const float* weights, const Tensor& values, Tensor& output) const {
  const Dim key_count = values.shape()[-2], width = values.width();
  const float* value = first_row_for(query, output.shape(), values);
  float* sums = output.row(query);
  std::fill_n(sums, width, 0.0f);
  for (Dim j = 0; j < key_count; ++j, value += width) {
    for (Dim i = 0; i < width; ++i) sums[i] += weights[j] * value[i];
  }
}

}  // namespace lessons
