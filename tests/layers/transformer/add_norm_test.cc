#include "encdec/layers/transformer/add_norm.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "encdec/layers/transformer/feed_forward.h"
#include "tests/layers/layer_contract.h"
#include "tests/support/comparison.h"
#include "tests/support/layer_runner.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"
#include "tests/support/weights_builder.h"

namespace encdec {
namespace {

using reference::Matrix;

LayerCase add_norm_case(Dim rows, Dim width, std::size_t inputs, float epsilon = 1e-5f) {
  RandomTensors random(1);
  LayerCase c{.name = fmt::format("{} x {}, {} inputs", rows, width, inputs),
              .weights = {{"weight", random.uniform({width}, 2.0)}, {"bias", random.uniform({width})}},
              .make =
                  [=](const WeightScope& weights) {
                    return std::make_shared<AddNorm>(weights, NormOptions{.width = width, .epsilon = epsilon});
                  },
              .expected =
                  [=](const LayerCase& self) {
                    const Matrix first(self.inputs[0]);
                    return layer_norm(inputs == 2 ? add(first, Matrix(self.inputs[1])) : first,
                                      Matrix(self.weights.at("weight")), Matrix(self.weights.at("bias")), epsilon);
                  }};
  while (c.inputs.size() < inputs) c.inputs.push_back(random.uniform({rows, width}));
  return c;
}

std::vector<LayerCase> add_norm_cases() {
  std::vector<LayerCase> cases;
  for (const std::size_t inputs : {std::size_t{1}, std::size_t{2}}) {
    for (const Dim width : {1, 2, 7, 16, 33, 64, 300}) {
      for (const Dim rows : {1, 3, 100}) cases.push_back(add_norm_case(rows, width, inputs));
    }
  }
  cases.push_back(add_norm_case(300, 100, 2));
  cases.push_back(add_norm_case(2, 6, 1));
  cases.back().refused = {
      {{}, "0 inputs, expected 1 or 2"},
      {{{2, 6}, {2, 6}, {2, 6}}, "3 inputs, expected 1 or 2"},
      {{{2, 5}}, "input has shape [2, 5], expected [rows, 6]"},
      {{{kSourceRows, 6}, {kTargetRows, 6}}, "inputs have shapes [S, 6] and [T, 6], expected equal ones"}};
  return cases;
}
INSTANTIATE_TEST_SUITE_P(AddNorm, LayerContract, testing::Values(&add_norm_cases));

TEST(AddNorm, WeightsMayBeStoredLessOne) {
  RandomTensors random(4);
  const Tensor x = random.uniform({3, 9}), less = random.uniform({9});
  Tensor whole = copy_of(less);
  for (Dim i = 0; i < 9; ++i) whole.data<float>()[i] += 1.0F;
  const auto run = [&](const Tensor& weight, bool less_one) {
    LayerRunner runner(std::make_shared<AddNorm>(make_scope({{"weight", weight}}),
                                                 NormOptions{.width = 9, .bias = Bias::none, .less_one = less_one}),
                       std::vector<Shape>{{kTargetRows, 9}});
    return runner.run(std::array{x}, {});
  };
  EXPECT_TRUE(same_bits(run(whole, false), run(less, true)));
}

TEST(AddNorm, ARowOfZerosGivesTheBias) {
  const LayerCase c = add_norm_case(2, 40, 1);
  LayerRunner runner(c.make(make_scope(c.weights)), std::vector<Shape>{{kTargetRows, 40}});
  const Matrix shift(c.weights.at("bias"));
  EXPECT_TRUE(
      equals(reference::stack(std::vector{shift, shift}), runner.run(std::array{Tensor::allocate({2, 40})}, {})));
}

// Norm first: x + f(norm(x)); the last matmul of f adds. Norm last: norm(x + f(x)); the norm adds.
TEST(AddNorm, NormFirstWithAResidualEqualsAnExplicitAddition) {
  RandomTensors random(5);
  const Tensor x = random.uniform({9, 20});
  const WeightScope weights = make_scope({{"norm.weight", random.uniform({20})},
                                          {"norm.bias", random.uniform({20})},
                                          {"ff.expand.weight", random.uniform({50, 20})},
                                          {"ff.expand.bias", random.uniform({50})},
                                          {"ff.project.weight", random.uniform({20, 50})},
                                          {"ff.project.bias", random.uniform({20})}});
  FeedForwardOptions options{.model_dim = 20, .hidden_dim = 50, .activation = Activation::gelu};
  const auto run = [&](Residual residual) {
    options.residual = residual;
    Graph graph("norm first");
    const Edge input = graph.input("x", {kTargetRows, 20});
    const Edge norm = graph.add<AddNorm>(weights / "norm", {input}, NormOptions{.width = 20});
    std::vector<Edge> edges = {norm};
    if (residual == Residual::add) edges.push_back(input);
    graph.output(graph.add<FeedForward>(weights / "ff", edges, options));
    const Executor executor(std::move(graph));
    RunState state(executor.graph());
    return copy_of(executor.run(std::array{x}, state)[0]);
  };
  Tensor sum = run(Residual::none);
  for (std::int64_t i = 0; i < sum.elements(); ++i) sum.data<float>()[i] += x.data<float>()[i];
  EXPECT_TRUE(same_bits(sum, run(Residual::add)));
}

}  // namespace
}  // namespace encdec
