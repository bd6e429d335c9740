#include "dense/additive_scores.h"

#include <fmt/format.h>

#include <cmath>

#include "encdec/engine/base/error.h"

namespace lessons {
namespace {

// Returns a bias of one element; 0 without a bias.
float bias_of_one(const WeightScope& weights, Bias bias) {
  const Tensor one = bias_of(weights, bias, 1);
  return one.empty() ? 0.0f : *one.data<float>();
}

// Projects rows: [B, R, D] -> [B, R, h] or [R, D] -> [R, h]. Valid while the node runs.
Tensor project(const Linear& projection, const Tensor& rows, RunState& state) {
  Tensor projected = state.scratch({rows.rows(), projection.output_width()});
  projection.apply(rows.reshape({rows.rows(), rows.width()}), nullptr, projected, state);
  return rows.shape().rank() == 3 ? projected.reshape({rows.shape()[0], rows.shape()[1], projection.output_width()})
                                  : projected;
}

// Throws ShapeError unless the rows have this width.
void expect_width(const Shape& shape, Dim width, std::string_view what) {
  if (shape.last() == width) return;
  throw ShapeError(fmt::format("{} have shape {}, expected rows of width {}", what, to_string(shape), width));
}

}  // namespace

AdditiveScores::AdditiveScores(const WeightScope& weights, const AdditiveOptions& options)
    : query_(weights / "query",
             {.input_width = options.query_dim, .output_width = options.hidden_dim, .bias = options.bias}),
      key_(weights / "key", {.input_width = options.key_dim, .output_width = options.hidden_dim, .bias = options.bias}),
      value_weights_((weights / "value").tensor("weight", {1, options.hidden_dim})),
      value_bias_(bias_of_one(weights / "value", options.bias)) {}

Shape AdditiveScores::output_shape(Shapes inputs) const {
  const Shape scores = scores_shape(inputs);
  expect_width(inputs[0], query_.input_width(), "queries");
  expect_width(inputs[1], key_.input_width(), "keys");
  return scores;
}

void AdditiveScores::forward(Inputs inputs, Tensor& output, RunState& state) const {
  write_scores(*this, inputs, output, state);
}

ComparedRows AdditiveScores::compare(const Tensor& queries, const Tensor& keys, RunState& state) const {
  return {project(query_, queries, state), project(key_, keys, state)};
}

void AdditiveScores::score(const ComparedRows& compared, Dim query, float* scores) const {
  const float* weights = value_weights_.data<float>();
  compared.score(query, scores, [&](const float* q, const float* k) {
    float sum = value_bias_;
    for (Dim i = 0; i < value_weights_.elements(); ++i) sum += weights[i] * std::tanh(q[i] + k[i]);
    return sum;
  });
}

}  // namespace lessons
