#include "encdec/layers/linear.h"

#include <fmt/format.h>

#include <vector>

#include "encdec/engine/error.h"
#include "encdec/engine/run_state.h"

namespace encdec {
namespace {

MatMul pack(std::span<const WeightScope> scopes, const LinearOptions& options) {
  std::vector<WeightMatrix> weights;
  std::vector<Tensor> biases;
  bool any_bias = false;
  for (const WeightScope& scope : scopes) {
    weights.push_back(scope.matrix("weight", {options.output_width, options.input_width}));
    const bool has_bias = options.bias == Bias::required || (options.bias == Bias::optional && scope.has("bias"));
    biases.push_back(has_bias ? scope.tensor("bias", {options.output_width}) : Tensor());
    any_bias = any_bias || has_bias;
  }
  if (!any_bias) biases.clear();
  return {weights, biases, scopes.front().pack(), options.activation, options.residual};
}

}  // namespace

void expect_rows(const Shape& shape, Dim width, std::string_view what) {
  if (shape.rank() != 2 || shape[1] != width) {
    throw ShapeError(fmt::format("{} has shape {}, expected [rows, {}]", what, to_string(shape), width));
  }
}

void expect_inputs(Shapes inputs, std::size_t count, Residual residual, const Shape& output) {
  const std::size_t expected = count + (residual == Residual::add ? 1 : 0);
  if (inputs.size() != expected) {
    throw ShapeError(fmt::format("{} inputs, expected {}", inputs.size(), expected));
  }
  if (residual == Residual::add && inputs.back() != output) {
    throw ShapeError(fmt::format("residual has shape {}, expected {}", to_string(inputs.back()), to_string(output)));
  }
}

Linear::Linear(const WeightScope& weights, const LinearOptions& options) : Linear(std::span(&weights, 1), options) {}

Linear::Linear(std::span<const WeightScope> weights, const LinearOptions& options)
    : matmul_(pack(weights, options)), residual_(options.residual), input_scale_(options.input_scale) {}

Shape Linear::output_shape(Shapes inputs) const {
  if (inputs.empty()) throw ShapeError("no input");
  expect_rows(inputs[0], input_width(), "input");
  const Shape output{inputs[0][0], output_width()};
  expect_inputs(inputs, 1, residual_, output);
  return output;
}

void Linear::forward(Inputs inputs, Tensor& output, RunState& state) const {
  apply(inputs[0], residual_ == Residual::add ? &inputs[1] : nullptr, output, state);
}

void Linear::apply(const Tensor& input, const Tensor* residual, Tensor& output, RunState& state) const {
  if (input_scale_ == 1.0f) return matmul_.forward(input, residual, output, state);
  Tensor scaled = state.scratch(input.shape());
  for (Dim i = 0; i < input.elements(); ++i) scaled.data<float>()[i] = input.data<float>()[i] * input_scale_;
  matmul_.forward(scaled, residual, output, state);
}

}  // namespace encdec
