#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/layers/attention_fixture.h"

namespace lessons {
using namespace encdec;

// Returns the four projections in `scope`. REQUIRES: the heads together are as wide as the model.
inline std::map<std::string, Tensor> square_attention_weights(const WeightScope& scope, Dim model_dim) {
  std::map<std::string, Tensor> weights;
  for (const std::string name : {"query", "key", "value", "output"}) {
    weights[name + ".weight"] = scope.tensor(name + ".weight", {model_dim, model_dim});
    weights[name + ".bias"] = scope.tensor(name + ".bias", {model_dim});
  }
  return weights;
}

// Returns the attention of each packed sequence computed separately, stacked by rows.
template <class AttendOne>
reference::Matrix of_each_sequence(const Tensor& x, const std::vector<int>& rows, const AttendOne& attend_one) {
  std::vector<reference::Matrix> outputs;
  std::int64_t first = 0;
  for (const int count : rows) {
    outputs.push_back(attend_one(reference::Matrix(x).slice_rows(first, count)));
    first += count;
  }
  return reference::stack(outputs);
}

// A self-attention layer of class L, its weights, packed sequences for it, and a residual if it adds one.
template <class L, class Options>
struct SelfAttentionCase {
  Options options;
  std::map<std::string, Tensor> weights;
  std::vector<int> rows;  // number of rows of each sequence
  std::vector<Tensor> inputs;

  SelfAttentionCase(const Options& options_, std::vector<int> rows_) : options(options_), rows(std::move(rows_)) {}

  void make_inputs(RandomTensors& random, const AttentionOptions& attention) {
    Dim total = 0;
    for (const int count : rows) total += count;
    inputs = {random.uniform({total, attention.model_dim})};
    if (attention.residual == Residual::add) inputs.push_back(random.uniform({total, attention.model_dim}));
  }

  LayerRunner runner(int threads) const {
    return {std::make_shared<L>(make_scope(weights, {.threads = threads}), options),
            std::vector<Shape>(inputs.size(), Shape{kSourceRows, inputs[0].width()}), threads};
  }

  Tensor run(int threads) const { return runner(threads).run(inputs, packed(rows)); }

  reference::Matrix with_residual(const reference::Matrix& attended) const {
    return inputs.size() == 2 ? add(attended, reference::Matrix(inputs[1])) : attended;
  }
};

// Expects that each sequence has the same bits alone as in the batch.
template <class Case>
void expect_neighbours_do_not_change_a_bit(const Case& c) {
  const Tensor all = c.run(2);
  LayerRunner runner = c.runner(1);
  for (const Sequence& sequence : packed(c.rows)) {
    const Tensor alone =
        runner.run(std::array{c.inputs[0].slice(sequence.first_row, sequence.rows)}, packed(std::array{sequence.rows}));
    EXPECT_TRUE(same_bits(all.slice(sequence.first_row, sequence.rows), alone)) << describe(c);
  }
}

// Puts a NaN into `poisoned_row`, a row of the second of three sequences. Expects that the other two sequences keep
// their bits, and that the NaN reaches `reached_row`.
template <class Case>
void expect_a_nan_stays_in_its_sequence(Case c, int poisoned_row, int reached_row) {
  const Tensor clean = c.run(2);
  c.inputs[0] = copy_of(c.inputs[0]);
  c.inputs[0].row(poisoned_row)[5] = std::numeric_limits<float>::quiet_NaN();
  const Tensor poisoned = c.run(2);
  const int third = c.rows[0] + c.rows[1];
  EXPECT_TRUE(same_bits(clean.slice(0, c.rows[0]), poisoned.slice(0, c.rows[0])));
  EXPECT_TRUE(same_bits(clean.slice(third, c.rows[2]), poisoned.slice(third, c.rows[2])));
  EXPECT_TRUE(std::isnan(poisoned.row(reached_row)[0]));
}

}  // namespace lessons
