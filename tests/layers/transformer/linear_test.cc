#include "encdec/layers/transformer/linear.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "tests/layers/bad_input.h"
#include "tests/support/comparison.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

using reference::Matrix;

TEST(Linear, FollowsTheFormula) {
  RandomTensors random(1);
  for (const auto& [input_width, output_width] :
       {std::pair<Dim, Dim>{1, 1}, {3, 7}, {17, 64}, {64, 1}, {61, 131}, {256, 300}}) {
    for (const Dim rows : {1, 2, 5, 33}) {
      for (const Residual residual : {Residual::none, Residual::add}) {
        const Tensor weight = random.uniform({output_width, input_width}), bias = random.uniform({output_width});
        std::vector<Tensor> inputs = {random.uniform({rows, input_width})};
        std::vector<Shape> shapes = {{kTargetRows, input_width}};
        const Matrix bias_row(bias);
        Matrix expected = linear(Matrix(inputs[0]), Matrix(weight), &bias_row);
        if (residual == Residual::add) {
          inputs.push_back(random.uniform({rows, output_width}));
          shapes.push_back({kTargetRows, output_width});
          expected = add(expected, Matrix(inputs[1]));
        }
        LayerRunner runner(
            std::make_shared<Linear>(
                make_scope({{"weight", weight}, {"bias", bias}}),
                LinearOptions{.input_width = input_width, .output_width = output_width, .residual = residual}),
            shapes);
        EXPECT_TRUE(is_close_to(expected, runner.run(inputs, {})))
            << rows << " rows, " << input_width << " -> " << output_width;
      }
    }
  }
}

TEST(Linear, MergedProjectionsAreSideBySide) {
  RandomTensors random(2);
  const Tensor input = random.uniform({4, 10});
  std::map<std::string, Tensor> weights;
  Matrix expected(4, 0);
  for (const char* name : {"a", "b", "c"}) {
    const std::string scope = name;
    weights[scope + ".weight"] = random.uniform({7, 10});
    weights[scope + ".bias"] = random.uniform({7});
    const Matrix bias(weights[scope + ".bias"]);
    expected = beside(expected, linear(Matrix(input), Matrix(weights[scope + ".weight"]), &bias));
  }
  const WeightScope scope = make_scope(weights);
  const std::array scopes = {scope / "a", scope / "b", scope / "c"};
  LayerRunner runner(std::make_shared<Linear>(scopes, LinearOptions{.input_width = 10, .output_width = 7}),
                     std::vector<Shape>{{kTargetRows, 10}});
  EXPECT_TRUE(is_close_to(expected, runner.run(std::array{input}, {})));
  EXPECT_TRUE(scope.unused().empty());
}

TEST(Linear, AnOptionalBiasDefaultsToZero) {
  RandomTensors random(3);
  const Tensor input = random.uniform({4, 10});
  const std::map<std::string, Tensor> weights = {
      {"a.weight", random.uniform({7, 10})}, {"b.weight", random.uniform({7, 10})}, {"b.bias", random.uniform({7})}};
  const WeightScope scope = make_scope(weights);
  const std::array scopes = {scope / "a", scope / "b"};
  const Matrix bias(weights.at("b.bias"));
  const auto run = [&](Bias mode) {
    LayerRunner runner(
        std::make_shared<Linear>(scopes, LinearOptions{.input_width = 10, .output_width = 7, .bias = mode}),
        std::vector<Shape>{{kTargetRows, 10}});
    return runner.run(std::array{input}, {});
  };
  const Matrix without = linear(Matrix(input), Matrix(weights.at("a.weight")), nullptr);
  EXPECT_TRUE(
      is_close_to(beside(without, linear(Matrix(input), Matrix(weights.at("b.weight")), &bias)), run(Bias::optional)));
  EXPECT_TRUE(
      is_close_to(beside(without, linear(Matrix(input), Matrix(weights.at("b.weight")), nullptr)), run(Bias::none)));
  EXPECT_THROW(run(Bias::required), WeightError);
}

TEST(Linear, EveryWeightIsChecked) {
  expect_every_weight_is_checked<Linear>({{"weight", Tensor::allocate({7, 10})}, {"bias", Tensor::allocate({7})}},
                                         LinearOptions{.input_width = 10, .output_width = 7});
}

TEST(Linear, RefusesInputsThatDoNotFit) {
  const auto layer = [](Residual residual) {
    return std::make_shared<Linear>(
        make_scope({{"weight", Tensor::allocate({7, 10})}, {"bias", Tensor::allocate({7})}}),
        LinearOptions{.input_width = 10, .output_width = 7, .residual = residual});
  };
  EXPECT_EQ(shape_error(layer(Residual::none), {}), "no input");
  EXPECT_EQ(shape_error(layer(Residual::none), {{kTargetRows, 9}}), "input has shape [T, 9], expected [rows, 10]");
  EXPECT_EQ(shape_error(layer(Residual::none), {{10}}), "input has shape [10], expected [rows, 10]");
  EXPECT_EQ(shape_error(layer(Residual::none), {{5, 10}, {5, 7}}), "2 inputs, expected 1");
  EXPECT_EQ(shape_error(layer(Residual::add), {{5, 10}}), "1 inputs, expected 2");
  EXPECT_EQ(shape_error(layer(Residual::add), {{5, 10}, {6, 7}}), "residual has shape [6, 7], expected [5, 7]");
}

}  // namespace
}  // namespace encdec
