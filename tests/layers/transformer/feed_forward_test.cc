#include "encdec/layers/transformer/feed_forward.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>

#include "tests/layers/bad_input.h"
#include "tests/support/comparison.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

using reference::Matrix;

struct FeedForwardCase {
  FeedForwardOptions options;
  std::map<std::string, Tensor> weights;
  std::vector<Tensor> inputs;

  FeedForwardCase(std::uint64_t seed, Dim rows, const FeedForwardOptions& given) : options(given) {
    RandomTensors random(seed);
    const Dim width = options.model_dim, hidden = options.hidden_dim;
    weights = {{"expand.weight", random.uniform({hidden, width}, std::sqrt(3.0 / static_cast<double>(width)))},
               {"expand.bias", random.uniform({hidden})},
               {"project.weight", random.uniform({width, hidden}, std::sqrt(3.0 / static_cast<double>(hidden)))},
               {"project.bias", random.uniform({width})}};
    if (options.kind == FeedForwardKind::gated) {
      weights["gate.weight"] = random.uniform({hidden, width}, std::sqrt(3.0 / static_cast<double>(width)));
      weights["gate.bias"] = random.uniform({hidden});
    }
    inputs = {random.uniform({rows, width})};
    if (options.residual == Residual::add) inputs.push_back(random.uniform({rows, width}));
  }

  LayerRunner runner(int threads) const {
    return {std::make_shared<FeedForward>(make_scope(weights, {.threads = threads}), options),
            std::vector<Shape>(inputs.size(), Shape{kTargetRows, options.model_dim}), threads};
  }

  Matrix expected() const {
    const Matrix expand_bias(weights.at("expand.bias")), project_bias(weights.at("project.bias"));
    Matrix hidden = linear(Matrix(inputs[0]), Matrix(weights.at("expand.weight")), &expand_bias);
    if (options.kind == FeedForwardKind::gated) {
      const Matrix gate_bias(weights.at("gate.bias"));
      const Matrix gate = linear(Matrix(inputs[0]), Matrix(weights.at("gate.weight")), &gate_bias);
      hidden = multiply(reference::activate(options.activation, gate), hidden);
    } else {
      hidden = reference::activate(options.activation, hidden);
    }
    const Matrix y = linear(hidden, Matrix(weights.at("project.weight")), &project_bias);
    return options.residual == Residual::add ? add(y, Matrix(inputs[1])) : y;
  }
};

constexpr std::array kActivations = {Activation::identity,  Activation::relu,         Activation::gelu,
                                     Activation::gelu_tanh, Activation::gelu_sigmoid, Activation::silu,
                                     Activation::tanh,      Activation::sigmoid};

TEST(FeedForward, FollowsTheFormulaForEveryActivation) {
  for (const Activation activation : kActivations) {
    for (const auto& [width, hidden] : {std::pair<Dim, Dim>{1, 1}, {5, 13}, {16, 64}, {33, 7}, {96, 257}}) {
      for (const Residual residual : {Residual::none, Residual::add}) {
        for (const Dim rows : {1, 4, 35}) {
          for (const FeedForwardKind kind : {FeedForwardKind::plain, FeedForwardKind::gated}) {
            const FeedForwardCase c(1, rows,
                                    {.kind = kind,
                                     .model_dim = width,
                                     .hidden_dim = hidden,
                                     .activation = activation,
                                     .residual = residual});
            EXPECT_TRUE(is_close_to(c.expected(), c.runner(2).run(c.inputs, {})))
                << to_string(activation) << ", " << rows << " x " << width << " -> " << hidden;
          }
        }
      }
    }
  }
}

TEST(FeedForward, NumberOfThreadsDoesNotChangeABit) {
  for (const Dim rows : {1, 3, 70}) {
    for (const FeedForwardKind kind : {FeedForwardKind::plain, FeedForwardKind::gated}) {
      const FeedForwardCase c(2, rows,
                              {.kind = kind,
                               .model_dim = 128,
                               .hidden_dim = 640,
                               .activation = Activation::gelu,
                               .residual = Residual::add});
      const Tensor alone = c.runner(1).run(c.inputs, {});
      for (const int threads : {2, 3}) EXPECT_TRUE(same_bits(alone, c.runner(threads).run(c.inputs, {}))) << rows;
    }
  }
}

TEST(FeedForward, OtherRowsDoNotChangeABit) {
  const FeedForwardCase c(
      3, 80, {.kind = FeedForwardKind::gated, .model_dim = 37, .hidden_dim = 150, .activation = Activation::gelu_tanh});
  LayerRunner runner = c.runner(2);
  const Tensor all = runner.run(c.inputs, {});
  RandomTensors random(4);
  for (int repetition = 0; repetition < 20; ++repetition) {
    std::vector<int> rows = random.permutation(80);
    rows.resize(static_cast<std::size_t>(1 + random.below(80)));
    EXPECT_TRUE(same_bits(gather_rows(all, rows), runner.run(std::vector{gather_rows(c.inputs[0], rows)}, {})));
  }
}

TEST(FeedForward, EveryWeightIsChecked) {
  const FeedForwardOptions options{.model_dim = 5, .hidden_dim = 9};
  expect_every_weight_is_checked<FeedForward>(FeedForwardCase(5, 1, options).weights, options);
  const FeedForwardOptions gated{.kind = FeedForwardKind::gated, .model_dim = 5, .hidden_dim = 9};
  expect_every_weight_is_checked<FeedForward>(FeedForwardCase(5, 1, gated).weights, gated);
}

TEST(FeedForward, WithoutBiasesItReadsNone) {
  FeedForwardCase c(7, 5,
                    {.kind = FeedForwardKind::gated, .model_dim = 6, .hidden_dim = 20, .activation = Activation::silu});
  for (const char* name : {"expand.bias", "gate.bias", "project.bias"}) {
    c.weights[name] = Tensor::allocate(c.weights[name].shape());
  }
  const Matrix expected = c.expected();
  for (const char* name : {"expand.bias", "gate.bias", "project.bias"}) c.weights.erase(name);
  c.options.bias = Bias::none;
  EXPECT_TRUE(is_close_to(expected, c.runner(1).run(c.inputs, {})));
}

TEST(FeedForward, RefusesInputsThatDoNotFit) {
  const auto layer = [](Residual residual) {
    const FeedForwardOptions options{.model_dim = 5, .hidden_dim = 9, .residual = residual};
    return std::make_shared<FeedForward>(make_scope(FeedForwardCase(6, 1, options).weights), options);
  };
  EXPECT_EQ(shape_error(layer(Residual::none), {}), "no input");
  EXPECT_EQ(shape_error(layer(Residual::none), {{2, 9}}), "input has shape [2, 9], expected [rows, 5]");
  EXPECT_EQ(shape_error(layer(Residual::none), {{2, 5}, {2, 5}}), "2 inputs, expected 1");
  EXPECT_EQ(shape_error(layer(Residual::add), {{2, 5}}), "1 inputs, expected 2");
  EXPECT_EQ(shape_error(layer(Residual::add), {{kSourceRows, 5}, {kTargetRows, 5}}),
            "residual has shape [T, 5], expected [S, 5]");
}

}  // namespace
}  // namespace encdec
