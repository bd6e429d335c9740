#include "tests/layers/layer_contract.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/layers/bad_input.h"
#include "tests/support/comparison.h"
#include "tests/support/layer_runner.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

// Returns the shape of an input with a symbol for the number of its rows.
Shape with_any_rows(const Tensor& input) {
  std::vector<Dim> dims(input.shape().dims().begin(), input.shape().dims().end());
  dims.front() = kTargetRows;
  return Shape(std::span<const Dim>(dims));
}

std::shared_ptr<const Layer> layer_of(const LayerCase& c, int threads = 1) {
  return c.make(make_scope(c.weights, {.threads = threads}));
}

LayerRunner runner_of(const LayerCase& c, int threads = 1) {
  std::vector<Shape> shapes;
  std::vector<DataType> types;
  for (const Tensor& input : c.inputs) {
    shapes.push_back(with_any_rows(input));
    types.push_back(input.type());
  }
  return {layer_of(c, threads), shapes, threads, types};
}

Tensor run(LayerRunner& runner, const std::vector<Tensor>& inputs, std::span<const int> rows) {
  std::vector<Sequence> sequences = packed(rows);
  runner.open_slots(sequences);
  Tensor output = runner.run(inputs, sequences);
  for (const Sequence& sequence : sequences) runner.state().cache_index.close(sequence.slot);
  return output;
}
Tensor run(const LayerCase& c, int threads) {
  LayerRunner runner = runner_of(c, threads);
  return run(runner, c.inputs, c.rows);
}

std::vector<Tensor> slices(const std::vector<Tensor>& inputs, Dim first, Dim count) {
  std::vector<Tensor> parts;
  for (const Tensor& input : inputs) parts.push_back(input.slice(first, count));
  return parts;
}

Dim rows_of(const LayerCase& c) {
  return c.inputs.front().shape()[0];
}

TEST_P(LayerContract, FollowsTheFormula) {
  for (const LayerCase& c : GetParam()()) {
    if (!c.expected) continue;
    for (const int threads : {1, 2}) EXPECT_TRUE(is_close_to(c.expected(c), run(c, threads))) << c.name;
  }
}

TEST_P(LayerContract, TakesWeightsOfHalfPrecision) {
  for (LayerCase& c : GetParam()()) {
    if (!c.expected || c.weights.empty()) continue;
    for (const DataType type : {DataType::float16, DataType::bfloat16}) {
      LayerCase half = c;
      for (auto& [name, weight] : half.weights) weight = stored_as(weight, type);
      EXPECT_TRUE(is_close_to(half.expected(half), run(half, 1))) << c.name << ", " << to_string(type);
    }
  }
}

TEST_P(LayerContract, TheNumberOfThreadsDoesNotChangeABit) {
  for (const LayerCase& c : GetParam()()) {
    const Tensor alone = run(c, 1);
    for (const int threads : {2, 3, 4}) EXPECT_TRUE(same_bits(alone, run(c, threads))) << c.name;
  }
}

// The neighbours of a row, or of a sequence of rows.
TEST_P(LayerContract, NeighboursDoNotChangeABit) {
  RandomTensors random(1);
  for (const LayerCase& c : GetParam()()) {
    LayerRunner runner = runner_of(c, 2);
    const Tensor all = run(runner, c.inputs, c.rows);
    const int total = static_cast<int>(rows_of(c));
    std::vector<Sequence> parts = packed(c.rows);
    for (int i = 0; c.rows.empty() && i < 8; ++i) {
      const int first = random.below(total);
      parts.push_back({.first_row = first, .rows = 1 + random.below(total - first)});
    }
    for (const Sequence& part : parts) {
      const std::vector rows(c.rows.empty() ? 0 : 1, part.rows);
      EXPECT_TRUE(same_bits(all.slice(part.first_row, part.rows),
                            run(runner, slices(c.inputs, part.first_row, part.rows), rows)))
          << c.name << ", rows from " << part.first_row;
    }
  }
}

TEST_P(LayerContract, ANaNStaysInItsRowOrSequence) {
  if (GetParam()().front().inputs.front().type() != DataType::float32) return;  // token ids
  bool shows = false;
  for (LayerCase& c : GetParam()()) {
    LayerRunner runner = runner_of(c, 2);
    const Tensor clean = run(runner, c.inputs, c.rows);
    std::vector<Sequence> parts = packed(c.rows);
    for (int row = 0; c.rows.empty() && row < rows_of(c); ++row) parts.push_back({.first_row = row, .rows = 1});
    const Sequence poisoned = parts[parts.size() / 2];
    if (poisoned.rows == 0) continue;
    c.inputs[0] = copy_of(c.inputs[0]);
    c.inputs[0].row(poisoned.first_row)[0] = std::numeric_limits<float>::quiet_NaN();
    const Tensor output = run(runner, c.inputs, c.rows);
    const int reached = poisoned.first_row + std::min(poisoned.rows - 1, 1);
    EXPECT_TRUE(c.rows.empty() || std::isnan(output.row(reached)[0])) << c.name << ", the next row of the sequence";
    for (const Sequence& part : parts) {
      const bool is_same = same_bits(clean.slice(part.first_row, part.rows), output.slice(part.first_row, part.rows));
      const bool is_poisoned = part.first_row == poisoned.first_row && part.rows > 0;
      shows = shows || (is_poisoned && !is_same);
      EXPECT_TRUE(is_same || is_poisoned) << c.name << ", row " << part.first_row;
    }
  }
  EXPECT_TRUE(shows) << "in no case does the NaN change its own row";
}

TEST_P(LayerContract, EveryWeightIsChecked) {
  for (const LayerCase& c : GetParam()()) expect_every_weight_is_checked(c.weights, c.make);
}

TEST_P(LayerContract, RefusesInputsThatDoNotFit) {
  for (const LayerCase& c : GetParam()()) {
    for (const auto& [shapes, message] : c.refused) EXPECT_EQ(shape_error(layer_of(c), shapes), message) << c.name;
  }
}

}  // namespace
}  // namespace encdec
