#include "dense/dot_product_scores.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "encdec/engine/base/error.h"

namespace lessons {

Shape DotProductScores::output_shape(Shapes inputs) const {
  const Shape scores = scores_shape(inputs);
  if (inputs[0].last() != inputs[1].last() || inputs[0].last() == 0) {
    throw ShapeError(fmt::format("queries have shape {} and keys {}, expected rows of equal width, at least 1",
                                 to_string(inputs[0]), to_string(inputs[1])));
  }
  return scores;
}

void DotProductScores::forward(Inputs inputs, Tensor& output, RunState& state) const {
  write_scores(*this, inputs, output, state);
}

void DotProductScores::score(const ComparedRows& compared, Dim query, float* scores) const {
  const Dim width = compared.queries.width();
  const float divisor = options_.scale == ScoreScale::scaled ? std::sqrt(static_cast<float>(width)) : 1.0f;
  compared.score(query, scores,
                 [&](const float* q, const float* k) { return std::inner_product(q, q + width, k, 0.0f) / divisor; });
}

}  // namespace lessons
