#include "encdec/layers/transformer/simple_recurrent_unit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "encdec/engine/base/error.h"
#include "tests/layers/layer_contract.h"
#include "tests/support/message_of.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"
#include "tests/support/weights_builder.h"

namespace encdec {
namespace {

using reference::Matrix;

std::map<std::string, Tensor> unit_weights(RandomTensors& random, Dim width) {
  return {{"candidate.weight", random.uniform({width, width})},
          {"forget_gate.weight", random.uniform({width, width})},
          {"forget_gate.bias", random.uniform({width})}};
}

// Computes max(c, 0) of one sequence, with c as in the header.
Matrix recurrence(const std::map<std::string, Tensor>& weights, const Matrix& x) {
  constexpr double kRounding = 0x1p-23;
  const Matrix bias(weights.at("forget_gate.bias"));
  const Matrix candidate = linear(x, Matrix(weights.at("candidate.weight")), nullptr);
  const Matrix gate = reference::sigmoid(linear(x, Matrix(weights.at("forget_gate.weight")), &bias));
  Matrix states(x.rows, x.columns);
  for (std::int64_t i = 0; i < x.columns; ++i) {
    double state = 0, error = 0;
    for (std::int64_t t = 0; t < x.rows; ++t) {
      const double f = gate.at(t, i), fresh = candidate.at(t, i);
      error = f * error + (1 - f) * candidate.error(t, i) + std::abs(state - fresh) * gate.error(t, i) +
              4 * kRounding * (std::abs(state) + std::abs(fresh));
      state = f * state + (1 - f) * fresh;
      states.at(t, i) = state;
      states.error(t, i) = error;
    }
  }
  return reference::relu(states);
}

LayerCase unit_case(std::string name, Dim width, std::vector<int> rows, Residual residual, std::uint64_t seed) {
  RandomTensors random(seed);
  Dim total = 0;
  for (const int count : rows) total += count;
  LayerCase made{.name = std::move(name), .weights = unit_weights(random, width), .rows = rows, .in_steps = true};
  made.make = [=](const WeightScope& weights) {
    return std::make_shared<SimpleRecurrentUnit>(weights,
                                                 SimpleRecurrentUnitOptions{.model_dim = width, .residual = residual});
  };
  made.inputs.push_back(random.uniform({total, width}));
  if (residual == Residual::add) made.inputs.push_back(random.uniform({total, width}));
  made.expected = [](const LayerCase& one) {
    const Matrix y = recurrence(one.weights, Matrix(one.inputs[0]));
    return one.inputs.size() == 1 ? y : add(y, Matrix(one.inputs[1]));
  };
  made.refused = {
      {{}, "0 inputs, expected at least 1"},
      {{{kTargetRows, width + 1}}, fmt::format("input has shape [T, {}], expected [rows, {}]", width + 1, width)}};
  return made;
}

std::vector<LayerCase> unit_cases() {
  return {unit_case("one row", 2, {1}, Residual::none, 1),
          unit_case("several sequences", 22, {7, 1, 30}, Residual::none, 2),
          unit_case("residual", 64, {5, 12}, Residual::add, 3)};
}
INSTANTIATE_TEST_SUITE_P(SimpleRecurrentUnit, LayerContract, testing::Values(&unit_cases));

TEST(SimpleRecurrentUnit, RefusesAnOddWidth) {
  RandomTensors random(5);
  EXPECT_EQ(message_of<ShapeError>([&] {
              SimpleRecurrentUnit(make_scope(unit_weights(random, 3)), SimpleRecurrentUnitOptions{.model_dim = 3});
            }),
            ": width 3, expected an even number");
}

}  // namespace
}  // namespace encdec
