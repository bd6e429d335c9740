#include "encdec/layers/lessons/dense/dense_attention.h"

#include <fmt/format.h>

#include <array>

#include "encdec/engine/base/error.h"

namespace encdec {

Shape dense_attention_shape(const Layer& scores, Shapes inputs) {
  if (inputs.size() != 3 && inputs.size() != 4) {
    throw ShapeError(fmt::format("{} inputs, expected queries, keys, values and perhaps valid lengths", inputs.size()));
  }
  const Shape scored = scores.output_shape(inputs.first(2));
  if (inputs.size() == 4) expect_valid_lengths(inputs[3], scored);
  return WeightedSum().output_shape(std::array{scored, inputs[2]});
}

void report_weights(const QueryWeights& weights, int key_count, const AttentionObserver& observer) {
  for (int i = 0; i < weights.block.count; ++i) {
    observer({.row = static_cast<int>(weights.block.row) + i,
              .weights = {weights.rows + i * weights.stride, static_cast<std::size_t>(key_count)}});
  }
}

}  // namespace encdec
