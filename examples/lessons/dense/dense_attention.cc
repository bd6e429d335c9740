#include "dense/dense_attention.h"

#include <fmt/format.h>

#include <array>

#include "encdec/engine/base/error.h"

namespace lessons {

Shape dense_attention_shape(const Layer& scores, Shapes inputs) {
  if (inputs.size() != 3 && inputs.size() != 4) {
    throw ShapeError(fmt::format("{} inputs, expected queries, keys, values and perhaps valid lengths", inputs.size()));
  }
  const Shape scored = scores.output_shape(inputs.first(2));
  if (inputs.size() == 4) expect_valid_lengths(inputs[3], scored);
  return WeightedSum().output_shape(std::array{scored, inputs[2]});
}

}  // namespace lessons
