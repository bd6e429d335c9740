#include "encdec/layers/transformer/cross_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include "tests/layers/attention_fixture.h"
#include "tests/layers/bad_input.h"
#include "tests/support/comparison.h"

namespace encdec {
namespace {

using reference::Mask;
using reference::Matrix;

struct CrossCase {
  AttentionOptions options;
  std::map<std::string, Tensor> weights;
  std::vector<int> target_rows;  // number of rows of each sequence
  std::vector<int> source_rows;
  Tensor source;
  Tensor target;
  Tensor residual;

  CrossCase(std::uint64_t seed, const AttentionSizes& sizes, std::vector<int> targets, std::vector<int> sources,
            Residual mode = Residual::none)
      : options(options_for(sizes, mode)), target_rows(std::move(targets)), source_rows(std::move(sources)) {
    RandomTensors random(seed);
    weights = attention_weights(random, options);
    Dim target_total = 0, source_total = 0;
    for (const int rows : target_rows) target_total += rows;
    for (const int rows : source_rows) source_total += rows;
    source = random.uniform({source_total, sizes.model_dim});
    target = random.uniform({target_total, sizes.model_dim});
    if (mode == Residual::add) residual = random.uniform({target_total, sizes.model_dim});
  }

  // Returns the keys and values that CrossAttention reads.
  Tensor memory(int threads) const {
    LayerRunner runner(std::make_shared<CrossAttentionMemory>(make_scope(weights, {.threads = threads}), options),
                       std::vector<Shape>{{kSourceRows, options.model_dim}}, threads);
    return runner.run(std::array{source}, packed(source_rows));
  }

  LayerRunner runner(int threads) const {
    std::vector<Shape> shapes = {{kTargetRows, options.model_dim}, {kSourceRows, 2 * options.inner_dim()}};
    if (!residual.empty()) shapes.push_back(shapes[0]);
    return {std::make_shared<CrossAttention>(make_scope(weights, {.threads = threads}), options), shapes, threads};
  }

  std::vector<Sequence> sequences() const { return packed(target_rows, {}, source_rows); }

  Tensor run(int threads) const {
    std::vector<Tensor> inputs = {target, memory(threads)};
    if (!residual.empty()) inputs.push_back(residual);
    return runner(threads).run(inputs, sequences());
  }

  Matrix expected() const {
    std::vector<Matrix> outputs;
    for (const Sequence& sequence : sequences()) {
      outputs.push_back(attend(weights, Matrix(target).slice_rows(sequence.first_row, sequence.rows),
                               Matrix(source).slice_rows(sequence.first_memory_row, sequence.memory_rows),
                               options.heads, {.mask = Mask::none}));
    }
    const Matrix y = reference::stack(outputs);
    return residual.empty() ? y : add(y, Matrix(residual));
  }
};

std::string describe(const CrossCase& c) {
  return "D " + std::to_string(c.options.model_dim) + ", heads " + std::to_string(c.options.heads) + ", target rows " +
         testing::PrintToString(c.target_rows) + ", source rows " + testing::PrintToString(c.source_rows);
}

TEST(CrossAttention, FollowsTheFormulaForEverySize) {
  for (const AttentionSizes& sizes : kAttentionSizes) {
    for (const auto& [targets, sources] : {std::pair<std::vector<int>, std::vector<int>>{{1}, {1}},
                                           {{5}, {1}},
                                           {{1}, {23}},
                                           {{1, 1, 1}, {4, 9, 2}},
                                           {{3, 1, 6}, {2, 17, 1}}}) {
      for (const Residual residual : {Residual::none, Residual::add}) {
        const CrossCase c(1, sizes, targets, sources, residual);
        for (const int threads : {1, 2}) EXPECT_TRUE(is_close_to(c.expected(), c.run(threads))) << describe(c);
      }
    }
  }
}

TEST(CrossAttentionMemory, LaysOutEachSourceAsKeysThenValuesHeadByHead) {
  for (const AttentionSizes& sizes : kAttentionSizes) {
    const CrossCase c(2, sizes, {1, 1}, {5, 2});
    const Dim head_dim = c.options.head_width();
    std::vector<Matrix> heads;
    for (const Sequence& sequence : c.sequences()) {
      for (const char* name : {"key", "value"}) {
        const Matrix all = project(c.weights, name, Matrix(c.source));
        const Matrix rows = all.slice_rows(sequence.first_memory_row, sequence.memory_rows);
        for (int head = 0; head < c.options.heads; ++head) {
          heads.push_back(rows.slice_columns(head * head_dim, head_dim));
        }
      }
    }
    const Tensor memory = c.memory(2);
    EXPECT_TRUE(is_close_to(reference::stack(heads), memory.reshape({memory.elements() / head_dim, head_dim})))
        << describe(c);
  }
}

TEST(CrossAttention, ASequenceWithoutSourceRowsGetsTheBiasOfTheOutput) {
  for (const std::vector<int>& sources : {std::vector{4, 0, 3}, {0, 0, 0}}) {
    const CrossCase c(3, {20, 4}, {2, 3, 1}, sources);
    const Tensor output = c.run(2);
    EXPECT_TRUE(is_close_to(c.expected(), output)) << describe(c);
    const Matrix bias(c.weights.at("output.bias"));
    EXPECT_TRUE(equals(bias, output.slice(3, 1)));
  }
}

TEST(CrossAttention, SequencesMayShareASource) {
  const CrossCase c(4, {20, 4}, {1, 1, 1}, {6, 0, 0});
  std::vector<Sequence> sequences = c.sequences();
  for (Sequence& sequence : sequences) {
    sequence.first_memory_row = 0;
    sequence.memory_rows = 6;
  }
  const Tensor output = c.runner(1).run(std::array{c.target, c.memory(1)}, sequences);
  EXPECT_TRUE(is_close_to(attend(c.weights, Matrix(c.target), Matrix(c.source), c.options.heads, {.mask = Mask::none}),
                          output));
}

// Returns softmax(q kᵀ / sqrt(K)) of one head for the target rows of `sequence`.
Matrix head_softmax(const CrossCase& c, const Sequence& sequence, int head) {
  const auto width = static_cast<std::int64_t>(c.options.head_width());
  const Matrix target = Matrix(c.target).slice_rows(sequence.first_row, sequence.rows);
  const Matrix source = Matrix(c.source).slice_rows(sequence.first_memory_row, sequence.memory_rows);
  const Matrix query = project(c.weights, "query", target).slice_columns(head * width, width);
  const Matrix key = project(c.weights, "key", source).slice_columns(head * width, width);
  Matrix scores = linear(query, key, nullptr);
  for (double& score : scores.values) score *= c.options.scale();
  for (double& error : scores.errors) error *= c.options.scale();
  return softmax(scores);
}

TEST(CrossAttention, AnObserverGetsTheSoftmaxOfEachRowAndHeadAndChangesNothing) {
  const CrossCase c(7, {20, 4}, {2, 1, 7}, {6, 1, 19});
  for (const int threads : {1, 2}) {
    LayerRunner runner = c.runner(threads);
    const std::vector<Tensor> inputs = {c.target, c.memory(threads)};
    const Tensor unobserved = runner.run(inputs, c.sequences());
    std::map<std::pair<int, int>, std::vector<float>> seen;  // key: row and head
    const Edge node{static_cast<int>(inputs.size())};        // nodes are numbered after the inputs
    runner.state().observe_attention(node, [&](const AttentionWeights& attention) {
      const std::vector<float> weights(attention.weights.begin(), attention.weights.end());
      EXPECT_TRUE(seen.emplace(std::pair(attention.row, attention.head), weights).second);
    });
    EXPECT_TRUE(same_bits(unobserved, runner.run(inputs, c.sequences())));
    EXPECT_EQ(seen.size(), 10u * 4u);
    for (const Sequence& sequence : c.sequences()) {
      for (int head = 0; head < c.options.heads; ++head) {
        const Matrix expected = head_softmax(c, sequence, head);
        for (int row = 0; row < sequence.rows; ++row) {
          std::vector<float>& weights = seen.at({sequence.first_row + row, head});
          ASSERT_EQ(weights.size(), static_cast<std::size_t>(sequence.memory_rows));
          const Tensor found(weights.data(), DataType::float32, {1, static_cast<Dim>(weights.size())});
          EXPECT_TRUE(is_close_to(expected.slice_rows(row, 1), found));
        }
      }
    }
    runner.state().observe_attention(node, {});
    runner.run(inputs, c.sequences());
    EXPECT_EQ(seen.size(), 10u * 4u) << "an observer that was taken back";
  }
}

TEST(CrossAttention, BatchNeighboursDoNotChangeABit) {
  for (const AttentionSizes& sizes : {AttentionSizes{15, 5}, AttentionSizes{64, 2}, AttentionSizes{257, 1}}) {
    const CrossCase c(5, sizes, {3, 1, 8, 1}, {7, 30, 1, 12});
    const Tensor all = c.run(2);
    for (const Sequence& sequence : c.sequences()) {
      CrossCase alone = c;
      alone.target_rows = {sequence.rows};
      alone.source_rows = {sequence.memory_rows};
      alone.target = c.target.slice(sequence.first_row, sequence.rows);
      alone.source = c.source.slice(sequence.first_memory_row, sequence.memory_rows);
      EXPECT_TRUE(same_bits(all.slice(sequence.first_row, sequence.rows), alone.run(1))) << describe(c);
    }
  }
}

TEST(CrossAttention, TokenByTokenEqualsAllAtOnceBitByBit) {
  const CrossCase c(6, {96, 3}, {13}, {21});
  const Tensor at_once = c.run(1), memory = c.memory(1);
  LayerRunner runner = c.runner(1);
  for (int row = 0; row < 13; ++row) {
    std::vector<Sequence> sequences = packed(std::array{1}, std::array{row}, std::array{21});
    EXPECT_TRUE(same_bits(at_once.slice(row, 1), runner.run(std::array{c.target.slice(row, 1), memory}, sequences)));
  }
}

TEST(CrossAttention, NumberOfThreadsDoesNotChangeABit) {
  const CrossCase c(7, {96, 3}, {3, 1, 8, 1}, {7, 30, 1, 12}, Residual::add);
  const Tensor alone = c.run(1);
  for (const int threads : {2, 3, 4}) EXPECT_TRUE(same_bits(alone, c.run(threads)));
}

TEST(CrossAttention, EveryWeightIsChecked) {
  const CrossCase c(8, {10, 2, 3}, {1}, {1});
  expect_every_weight_is_checked<CrossAttention>(
      only(c.weights, {"query.weight", "query.bias", "output.weight", "output.bias"}), c.options);
  expect_every_weight_is_checked<CrossAttentionMemory>(
      only(c.weights, {"key.weight", "key.bias", "value.weight", "value.bias"}), c.options);
}

TEST(CrossAttention, RefusesInputsThatDoNotFit) {
  const auto layer = [](Residual residual) {
    const CrossCase c(9, {10, 2}, {1}, {1}, residual);
    return std::make_shared<CrossAttention>(make_scope(c.weights), c.options);
  };
  const Shape target{kTargetRows, 10}, memory{kSourceRows, 20};
  EXPECT_EQ(shape_error(layer(Residual::none), {}), "expected a target and a memory");
  EXPECT_EQ(shape_error(layer(Residual::none), {target}), "expected a target and a memory");
  EXPECT_EQ(shape_error(layer(Residual::none), {{kTargetRows, 9}, memory}),
            "target has shape [T, 9], expected [rows, 10]");
  EXPECT_EQ(shape_error(layer(Residual::none), {target, {kSourceRows, 10}}),
            "memory has shape [S, 10], expected [rows, 20]");
  EXPECT_EQ(shape_error(layer(Residual::none), {target, memory, target}), "3 inputs, expected 2");
  EXPECT_EQ(shape_error(layer(Residual::add), {target, memory}), "2 inputs, expected 3");
  EXPECT_EQ(shape_error(layer(Residual::add), {target, memory, {kSourceRows, 10}}),
            "residual has shape [S, 10], expected [T, 10]");
}

}  // namespace
}  // namespace encdec
