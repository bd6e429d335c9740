#include "encdec/layers/lessons/dense/weighted_sum.h"

#include <fmt/format.h>

#include "encdec/engine/base/error.h"
#include "encdec/layers/lessons/dense/attention_kernel.h"

namespace encdec {

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
  const Tensor &weights = inputs[0], &values = inputs[1];
  const Dim key_count = weights.width();
  for_each_query_block(output.shape(), key_count * values.width(), state, [&](const QueryBlock& block, int) {
    sum({block, weights.row(block.row), key_count}, values, output);
  });
}

void WeightedSum::sum(const QueryWeights& weights, const Tensor& values, Tensor& output) const {
  const QueryBlock& block = weights.block;
  const Dim value_count = values.shape()[-2];
  kernels::weighted_sum({.weights = weights.rows,
                         .weights_stride = weights.stride,
                         .values = values.row(block.member * value_count),
                         .query_count = block.count,
                         .value_count = static_cast<int>(value_count),
                         .width = static_cast<int>(values.width()),
                         .output = output.row(block.row)});
}

}  // namespace encdec
