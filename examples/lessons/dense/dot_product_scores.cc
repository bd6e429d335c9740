#include "encdec/layers/lessons/dense/dot_product_scores.h"

#include <fmt/format.h>

#include <cmath>

#include "encdec/engine/base/error.h"

namespace encdec {

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

void DotProductScores::score(const ComparedRows& compared, const QueryBlock& block, float* scores, Dim stride) const {
  const float width = static_cast<float>(compared.queries.width());
  kernels::dot_product_scores(compared.rows(block, scores, stride),
                              options_.scale == ScoreScale::scaled ? std::sqrt(width) : 1.0f);
}

}  // namespace encdec
