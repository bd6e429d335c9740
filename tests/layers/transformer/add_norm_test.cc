#include "encdec/layers/transformer/add_norm.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "encdec/layers/transformer/feed_forward.h"
#include "tests/layers/bad_input.h"
#include "tests/support/comparison.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

using reference::Matrix;

struct Case {
  Tensor scale;
  Tensor shift;
  std::vector<Tensor> inputs;  // one input, or two to be added
  float epsilon = 1e-5f;

  Case(std::uint64_t seed, Dim rows, Dim width, std::size_t input_count) {
    RandomTensors random(seed);
    scale = random.uniform({width}, 2.0);
    shift = random.uniform({width});
    while (inputs.size() < input_count) inputs.push_back(random.uniform({rows, width}));
  }

  Tensor run(int threads) const {
    const Dim width = scale.width();
    LayerRunner runner(std::make_shared<AddNorm>(make_scope({{"weight", scale}, {"bias", shift}}),
                                                 NormOptions{.width = width, .epsilon = epsilon}),
                       std::vector<Shape>(inputs.size(), Shape{kTargetRows, width}), threads);
    return runner.run(inputs, {});
  }

  Matrix expected() const {
    const Matrix x = inputs.size() == 2 ? add(Matrix(inputs[0]), Matrix(inputs[1])) : Matrix(inputs[0]);
    return layer_norm(x, Matrix(scale), Matrix(shift), epsilon);
  }
};

TEST(AddNorm, FollowsTheFormulaBothNormFirstAndNormLast) {
  for (const std::size_t inputs : {std::size_t{1}, std::size_t{2}}) {
    for (const Dim width : {1, 2, 7, 16, 33, 64, 300}) {
      for (const Dim rows : {1, 3, 100}) {
        const Case c(1, rows, width, inputs);
        EXPECT_TRUE(is_close_to(c.expected(), c.run(2))) << rows << " x " << width << ", " << inputs << " inputs";
      }
    }
  }
}

TEST(AddNorm, NumberOfThreadsDoesNotChangeABit) {
  for (const Dim rows : {1, 2, 7, 300}) {
    const Case c(2, rows, 100, 2);
    const Tensor alone = c.run(1);
    for (const int threads : {2, 3, 4}) EXPECT_TRUE(same_bits(alone, c.run(threads))) << rows << " rows";
  }
}

TEST(AddNorm, ARowOfZerosGivesTheBias) {
  Case c(3, 2, 40, 1);
  c.inputs[0] = Tensor::allocate({2, 40});
  const Matrix shift(c.shift);
  EXPECT_TRUE(equals(reference::stack(std::vector{shift, shift}), c.run(1)));
}

TEST(AddNorm, HalfPrecisionWeightsAreAccepted) {
  for (const DataType type : {DataType::float16, DataType::bfloat16}) {
    Case c(4, 3, 40, 2);
    c.scale = stored_as(c.scale, type);
    c.shift = stored_as(c.shift, type);
    EXPECT_TRUE(is_close_to(c.expected(), c.run(1))) << to_string(type);
  }
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

TEST(AddNorm, EveryWeightIsChecked) {
  expect_every_weight_is_checked<AddNorm>({{"weight", Tensor::allocate({6})}, {"bias", Tensor::allocate({6})}},
                                          NormOptions{.width = 6});
}

TEST(AddNorm, RefusesInputsThatDoNotFit) {
  const auto layer = std::make_shared<AddNorm>(
      make_scope({{"weight", Tensor::allocate({6})}, {"bias", Tensor::allocate({6})}}), NormOptions{.width = 6});
  EXPECT_EQ(shape_error(layer, {}), "0 inputs, expected 1 or 2");
  EXPECT_EQ(shape_error(layer, {{2, 6}, {2, 6}, {2, 6}}), "3 inputs, expected 1 or 2");
  EXPECT_EQ(shape_error(layer, {{2, 5}}), "input has shape [2, 5], expected [rows, 6]");
  EXPECT_EQ(shape_error(layer, {{kSourceRows, 6}, {kTargetRows, 6}}),
            "inputs have shapes [S, 6] and [T, 6], expected equal ones");
}

}  // namespace
}  // namespace encdec
