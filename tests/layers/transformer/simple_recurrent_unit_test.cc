#include "encdec/layers/transformer/simple_recurrent_unit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "encdec/engine/base/error.h"
#include "tests/layers/layer_contract.h"
#include "tests/support/comparison.h"
#include "tests/support/layer_runner.h"
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
  LayerCase made{.name = std::move(name), .weights = unit_weights(random, width), .rows = rows};
  made.make = [=](const WeightScope& weights) {
    return std::make_shared<SimpleRecurrentUnit>(weights,
                                                 SimpleRecurrentUnitOptions{.model_dim = width, .residual = residual});
  };
  made.inputs.push_back(random.uniform({total, width}));
  if (residual == Residual::add) made.inputs.push_back(random.uniform({total, width}));
  made.expected = [](const LayerCase& self) {
    std::vector<Matrix> parts;
    std::int64_t first = 0;
    for (const int count : self.rows) {
      parts.push_back(recurrence(self.weights, Matrix(self.inputs[0]).slice_rows(first, count)));
      first += count;
    }
    const Matrix all = reference::stack(parts);
    return self.inputs.size() == 1 ? all : add(all, Matrix(self.inputs[1]));
  };
  made.refused = {
      {{}, "no input"},
      {{{kTargetRows, width + 1}}, fmt::format("input has shape [T, {}], expected [rows, {}]", width + 1, width)}};
  return made;
}

std::vector<LayerCase> unit_cases() {
  return {unit_case("one row", 2, {1}, Residual::none, 1),
          unit_case("several sequences", 22, {7, 1, 30}, Residual::none, 2),
          unit_case("residual", 64, {5, 12}, Residual::add, 3)};
}
INSTANTIATE_TEST_SUITE_P(SimpleRecurrentUnit, LayerContract, testing::Values(&unit_cases));

TEST(SimpleRecurrentUnit, TokenByTokenEqualsAllAtOnceBitByBit) {
  constexpr Dim kWidth = 22;
  RandomTensors random(4);
  const auto layer = std::make_shared<SimpleRecurrentUnit>(make_scope(unit_weights(random, kWidth)),
                                                           SimpleRecurrentUnitOptions{.model_dim = kWidth});
  const Tensor input = random.uniform({40, kWidth});
  const std::vector<Shape> shapes{{kTargetRows, kWidth}};
  LayerRunner whole(layer, shapes, 1), stepwise(layer, shapes, 1);
  std::vector<Sequence> sequences{{.rows = 40}};
  whole.open_slots(sequences);
  const Tensor expected = copy_of(whole.run(std::array{input}, sequences));
  int slot = stepwise.state().cache_index.open();
  for (int step = 0; step < 40; ++step) {
    // A fork goes on from the same state, and dropped positions leave none behind.
    const int fork = stepwise.state().cache_index.fork(slot);
    stepwise.state().cache_index.close(slot);
    slot = fork;
    for (const int row : {39 - step, step}) {
      stepwise.state().cache_index.shorten(slot, step);
      stepwise.state().cache_index.append(slot, 1);
      const Tensor output = stepwise.run(std::array{copy_of(input.slice(row, 1))},
                                         std::vector{Sequence{.rows = 1, .past = step, .slot = slot}});
      if (row == step) {
        ASSERT_TRUE(same_bits(expected.slice(step, 1), output)) << step;
      }
    }
  }
}

TEST(SimpleRecurrentUnit, RefusesAnOddWidth) {
  RandomTensors random(5);
  EXPECT_EQ(message_of<ShapeError>([&] {
              SimpleRecurrentUnit(make_scope(unit_weights(random, 3)), SimpleRecurrentUnitOptions{.model_dim = 3});
            }),
            ": width 3, expected an even number");
}

}  // namespace
}  // namespace encdec
