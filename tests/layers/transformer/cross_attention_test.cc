#include "encdec/layers/transformer/cross_attention.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <utility>

#include "tests/layers/attention_fixture.h"

namespace encdec {
namespace {

using reference::Matrix;

LayerCase cross_case(const AttentionOptions& options, std::vector<int> target_rows, std::vector<int> source_rows) {
  RandomTensors random(1);
  const std::map<std::string, Tensor> weights = attention_weights(random, options);
  LayerCase c = source_reader_case<CrossAttention>(random, options, std::move(target_rows), std::move(source_rows));
  c.expected = [options](const LayerCase& one) {
    const Matrix query = project(one.weights, "query", Matrix(one.inputs[0]));
    const Matrix key_values = heads_of(one.inputs[1], options);
    const Dim rows = one.source_rows[0], width = options.head_width(), shared = options.heads_per_key();
    Matrix attended(query.rows, 0);
    for (int head = 0; head < options.heads; ++head) {
      attended =
          beside(attended,
                 attention(query.slice_columns(head * width, width), key_values.slice_rows(head / shared * rows, rows),
                           key_values.slice_rows((options.heads + head) / shared * rows, rows), reference::Mask::none));
    }
    const Matrix y = project(one.weights, "output", attended);
    return one.inputs.size() == 3 ? add(y, Matrix(one.inputs[2])) : y;
  };
  for (const auto& [name, weight] : weights) {
    if (name.starts_with("query") || name.starts_with("output")) c.weights[name] = weight;
  }
  if (options.residual == Residual::add) c.inputs.push_back(random.uniform(c.inputs[0].shape()));
  return c;
}

std::vector<LayerCase> cross_cases() {
  std::vector<LayerCase> cases;
  for (const AttentionSizes& sizes : kAttentionSizes) {
    for (const auto& [targets, sources] : {std::pair<std::vector<int>, std::vector<int>>{{1}, {1}},
                                           {{5}, {1}},
                                           {{1}, {23}},
                                           {{1, 1, 1}, {4, 4, 9}},
                                           {{2, 3, 1}, {4, 0, 3}},
                                           {{3, 1, 13}, {2, 30, 1}}}) {
      for (const Residual residual : {Residual::none, Residual::add}) {
        cases.push_back(cross_case(options_for(sizes, residual), targets, sources));
      }
    }
  }
  AttentionOptions grouped = options_for({20, 4});
  grouped.key_value_heads = 2;
  cases.push_back(cross_case(grouped, {2, 3, 1}, {4, 0, 30}));
  cases.push_back(cross_case(options_for({257, 1}), {3, 1, 8, 1}, {7, 30, 1, 12}));
  cases.back().expected = {};  // the error bound of a sum of 257 terms is too large
  const Shape target{kTargetRows, 10}, key_values{kSourceRows, 20};
  cases.push_back(cross_case(options_for({10, 2}), {1}, {1}));
  cases.back().refused = {{{}, "expected a target and a key/value input"},
                          {{target}, "expected a target and a key/value input"},
                          {{{kTargetRows, 9}, key_values}, "target has shape [T, 9], expected [rows, 10]"},
                          {{target, {kSourceRows, 10}}, "key/value input has shape [S, 10], expected [rows, 20]"},
                          {{target, key_values, target}, "3 inputs, expected 2"}};
  cases.push_back(cross_case(options_for({10, 2}, Residual::add), {1}, {1}));
  cases.back().refused = {{{target, key_values}, "2 inputs, expected 3"},
                          {{target, key_values, {kSourceRows, 10}}, "residual has shape [S, 10], expected [T, 10]"}};
  return cases;
}
INSTANTIATE_TEST_SUITE_P(CrossAttention, LayerContract, testing::Values(&cross_cases));

// The rows of a source are its keys and then its values, head by head.
std::vector<LayerCase> memory_cases() {
  std::vector<LayerCase> cases;
  for (const AttentionSizes& sizes : kAttentionSizes) {
    const AttentionOptions options = options_for(sizes);
    RandomTensors random(2);
    LayerCase& c = cases.emplace_back();
    c.name = "D " + std::to_string(sizes.model_dim);
    for (const auto& [name, weight] : attention_weights(random, options)) {
      if (name.starts_with("key") || name.starts_with("value")) c.weights[name] = weight;
    }
    c.make = [options](const WeightScope& weights) {
      return std::make_shared<CrossAttentionKeyValues>(weights, options);
    };
    c.inputs = {random.uniform({7, sizes.model_dim})};
    c.rows = {5, 2};
    c.expected = [options](const LayerCase& one) {
      std::vector<Matrix> heads;
      for (const char* name : {"key", "value"}) {
        const Matrix rows = project(one.weights, name, Matrix(one.inputs[0]));
        for (int head = 0; head < options.heads; ++head) {
          heads.push_back(rows.slice_columns(head * options.head_width(), options.head_width()));
        }
      }
      return reference::stack(heads).reshaped(2 * options.inner_dim());
    };
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(CrossAttentionKeyValues, LayerContract, testing::Values(&memory_cases));

LayerRunner cross_runner(const LayerCase& c, int threads) {
  return {c.make(make_scope(c.weights, {.threads = threads})),
          std::vector<Shape>{{kTargetRows, c.inputs[0].width()}, {kSourceRows, c.inputs[1].width()}}, threads};
}

TEST(CrossAttention, SequencesMayShareASource) {
  const LayerCase c = cross_case(options_for({20, 4}), {3}, {6});
  std::vector<Sequence> sequences = packed(std::array{1, 1, 1}, {}, std::array{6, 0, 0});
  for (Sequence& sequence : sequences) {
    sequence.first_source_row = 0;
    sequence.source_rows = 6;
  }
  EXPECT_TRUE(is_close_to(c.expected(c), cross_runner(c, 1).run(c.inputs, sequences)));
}

// Golden models test that the observed weights follow the formula.
TEST(CrossAttention, AnObserverGetsEachRowAndHeadOnceAndChangesNothing) {
  const LayerCase c = cross_case(options_for({20, 4}), {2, 1, 7}, {6, 1, 19});
  const std::vector<Sequence> sequences = packed(c.rows, {}, c.source_rows);
  for (const int threads : {1, 2}) {
    LayerRunner runner = cross_runner(c, threads);
    const Tensor unobserved = runner.run(c.inputs, sequences);
    std::set<std::pair<int, int>> seen;  // row and head
    const Edge node{2};                  // nodes are numbered after the inputs
    runner.state().observe_attention(node, [&](const AttentionWeights& attention) {
      EXPECT_TRUE(seen.emplace(attention.row, attention.head).second);
    });
    EXPECT_TRUE(same_bits(unobserved, runner.run(c.inputs, sequences)));
    EXPECT_EQ(seen.size(), 10u * 4u);
    runner.state().observe_attention(node, {});
    runner.run(c.inputs, sequences);
    EXPECT_EQ(seen.size(), 10u * 4u) << "an observer that was taken back";
  }
}

}  // namespace
}  // namespace encdec
