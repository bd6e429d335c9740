#include "encdec/layers/transformer/linear.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "encdec/engine/base/error.h"
#include "tests/layers/layer_contract.h"
#include "tests/support/comparison.h"
#include "tests/support/layer_runner.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"
#include "tests/support/weights_builder.h"

namespace encdec {
namespace {

using reference::Matrix;

LayerCase linear_case(Dim rows, Dim input_width, Dim output_width, Residual residual) {
  RandomTensors random(1);
  LayerCase c{
      .name = fmt::format("{} rows, {} -> {}", rows, input_width, output_width),
      .weights = {{"weight", random.uniform({output_width, input_width})}, {"bias", random.uniform({output_width})}},
      .make =
          [=](const WeightScope& weights) {
            return std::make_shared<Linear>(
                weights, LinearOptions{.input_width = input_width, .output_width = output_width, .residual = residual});
          },
      .inputs = {random.uniform({rows, input_width})},
      .expected =
          [=](const LayerCase& self) {
            const Matrix bias(self.weights.at("bias"));
            const Matrix y = linear(Matrix(self.inputs[0]), Matrix(self.weights.at("weight")), &bias);
            return residual == Residual::add ? add(y, Matrix(self.inputs[1])) : y;
          }};
  if (residual == Residual::add) c.inputs.push_back(random.uniform({rows, output_width}));
  return c;
}

std::vector<LayerCase> linear_cases() {
  std::vector<LayerCase> cases;
  for (const auto& [input_width, output_width] :
       {std::pair<Dim, Dim>{1, 1}, {3, 7}, {17, 64}, {64, 1}, {61, 131}, {256, 300}}) {
    for (const Dim rows : {1, 2, 5, 33}) {
      for (const Residual residual : {Residual::none, Residual::add}) {
        cases.push_back(linear_case(rows, input_width, output_width, residual));
      }
    }
  }
  cases.push_back(linear_case(1, 10, 7, Residual::none));
  cases.back().refused = {{{}, "0 inputs, expected at least 1"},
                          {{{kTargetRows, 9}}, "input has shape [T, 9], expected [rows, 10]"},
                          {{{10}}, "input has shape [10], expected [rows, 10]"},
                          {{{5, 10}, {5, 7}}, "2 inputs, expected 1"}};
  cases.push_back(linear_case(1, 10, 7, Residual::add));
  cases.back().refused = {{{{5, 10}}, "1 inputs, expected 2"},
                          {{{5, 10}, {6, 7}}, "residual has shape [6, 7], expected [5, 7]"}};
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Linear, LayerContract, testing::Values(&linear_cases));

TEST(Linear, MergedProjectionsAreSideBySideAndAnOptionalBiasIsZero) {
  RandomTensors random(3);
  const Tensor input = random.uniform({4, 10});
  const Tensor a = random.uniform({7, 10}), b = random.uniform({7, 10}), b_bias = random.uniform({7});
  const WeightScope scope = make_scope({{"a.weight", a}, {"b.weight", b}, {"b.bias", b_bias}});
  const std::array scopes = {scope / "a", scope / "b"};
  const auto run = [&](Bias mode) {
    LayerRunner runner(
        std::make_shared<Linear>(scopes, LinearOptions{.input_width = 10, .output_width = 7, .bias = mode}),
        std::vector<Shape>{{kTargetRows, 10}});
    return runner.run(std::array{input}, {});
  };
  const Matrix bias(b_bias), x(input), of_a = linear(x, Matrix(a), nullptr);
  EXPECT_TRUE(is_close_to(beside(of_a, linear(x, Matrix(b), &bias)), run(Bias::optional)));
  EXPECT_TRUE(scope.unused().empty());
  EXPECT_TRUE(is_close_to(beside(of_a, linear(x, Matrix(b), nullptr)), run(Bias::none)));
  EXPECT_THROW(run(Bias::required), WeightError);
}

}  // namespace
}  // namespace encdec
