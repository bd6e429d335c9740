#include "encdec/layers/transformer/feed_forward.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "tests/layers/layer_contract.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

using reference::Matrix;

Matrix bias_of(const LayerCase& c, const std::string& name, Dim width) {
  const auto bias = c.weights.find(name + ".bias");
  return bias != c.weights.end() ? Matrix(bias->second) : Matrix(1, width);
}

LayerCase feed_forward_case(Dim rows, const FeedForwardOptions& options) {
  RandomTensors random(1);
  const Dim width = options.model_dim, hidden = options.hidden_dim;
  const bool is_gated = options.kind == FeedForwardKind::gated;
  LayerCase c{.name = fmt::format("{}, {} x {} -> {}", to_string(options.activation), rows, width, hidden),
              .make = [=](const WeightScope& weights) { return std::make_shared<FeedForward>(weights, options); },
              .expected =
                  [=](const LayerCase& self) {
                    const auto map = [&](const std::string& name, const Matrix& x, Dim outputs) {
                      const Matrix bias = bias_of(self, name, outputs);
                      return linear(x, Matrix(self.weights.at(name + ".weight")), &bias);
                    };
                    const Matrix x(self.inputs[0]);
                    const Matrix expanded = map("expand", x, hidden);
                    const Matrix y = map(
                        "project",
                        is_gated ? multiply(reference::activate(options.activation, map("gate", x, hidden)), expanded)
                                 : reference::activate(options.activation, expanded),
                        width);
                    return options.residual == Residual::add ? add(y, Matrix(self.inputs[1])) : y;
                  }};
  const auto add_weights = [&](const std::string& name, Dim outputs, Dim inputs) {
    c.weights[name + ".weight"] = random.uniform({outputs, inputs}, std::sqrt(3.0 / static_cast<double>(inputs)));
    if (options.bias != Bias::none) c.weights[name + ".bias"] = random.uniform({outputs});
  };
  add_weights("expand", hidden, width);
  add_weights("project", width, hidden);
  if (is_gated) add_weights("gate", hidden, width);
  while (c.inputs.size() < (options.residual == Residual::add ? 2 : 1))
    c.inputs.push_back(random.uniform({rows, width}));
  return c;
}

std::vector<LayerCase> feed_forward_cases() {
  std::vector<LayerCase> cases;
  for (const FeedForwardKind kind : {FeedForwardKind::plain, FeedForwardKind::gated}) {
    for (const auto& [width, hidden] : {std::pair<Dim, Dim>{1, 1}, {5, 13}, {16, 64}, {33, 7}, {96, 257}}) {
      for (const Activation activation : reference::kActivations) {
        for (const Dim rows : {1, 4, 35}) {
          for (const Residual residual : {Residual::none, Residual::add}) {
            cases.push_back(feed_forward_case(rows, {.kind = kind,
                                                     .model_dim = width,
                                                     .hidden_dim = hidden,
                                                     .activation = activation,
                                                     .residual = residual}));
          }
        }
      }
    }
    cases.push_back(
        feed_forward_case(80, {.kind = kind, .model_dim = 37, .hidden_dim = 150, .activation = Activation::gelu_tanh}));
    cases.push_back(
        feed_forward_case(70, {.kind = kind, .model_dim = 128, .hidden_dim = 640, .activation = Activation::gelu}));
    cases.push_back(feed_forward_case(
        5, {.kind = kind, .model_dim = 6, .hidden_dim = 20, .activation = Activation::silu, .bias = Bias::none}));
  }
  cases.push_back(feed_forward_case(1, {.model_dim = 5, .hidden_dim = 9}));
  cases.back().refused = {{{}, "0 inputs, expected at least 1"},
                          {{{2, 9}}, "input has shape [2, 9], expected [rows, 5]"},
                          {{{2, 5}, {2, 5}}, "2 inputs, expected 1"}};
  cases.push_back(feed_forward_case(1, {.model_dim = 5, .hidden_dim = 9, .residual = Residual::add}));
  cases.back().refused = {{{{2, 5}}, "1 inputs, expected 2"},
                          {{{kSourceRows, 5}, {kTargetRows, 5}}, "residual has shape [T, 5], expected [S, 5]"}};
  return cases;
}
INSTANTIATE_TEST_SUITE_P(FeedForward, LayerContract, testing::Values(&feed_forward_cases));

}  // namespace
}  // namespace encdec
