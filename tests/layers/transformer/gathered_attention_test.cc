#include "encdec/layers/transformer/gathered_attention.h"

#include <gtest/gtest.h>

#include <numeric>

#include "encdec/engine/base/error.h"
#include "encdec/layers/transformer/gather.h"
#include "encdec/layers/transformer/multi_head_attention.h"
#include "tests/layers/attention_fixture.h"
#include "tests/layers/bad_input.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

using reference::Matrix;

LayerRunner runner_for(const std::map<std::string, Tensor>& weights, const AttentionOptions& options, int threads) {
  std::vector<Shape> shapes{{kTargetRows, options.model_dim}, {kSourceRows, options.model_dim}};
  if (options.residual == Residual::add) shapes.push_back(shapes[0]);
  return {std::make_shared<GatheredAttention>(make_scope(weights, {.threads = threads}), options), shapes, threads};
}

std::vector<Tensor> inputs_for(const Tensor& x, std::span<const int> rows, const AttentionOptions& options) {
  std::vector<Tensor> inputs{gather_rows(x, rows), x};
  if (options.residual == Residual::add) inputs.push_back(inputs[0]);
  return inputs;
}

TEST(GatheredAttention, EqualsTheAttentionOfAllRowsInThoseRows) {
  RandomTensors random(1);
  for (const AttentionSizes& sizes : kAttentionSizes) {
    for (const Residual residual : {Residual::none, Residual::add}) {
      const AttentionOptions options = options_for(sizes, residual);
      const auto weights = attention_weights(random, options);
      const std::vector rows{3, 1, 17};
      const Tensor x = random.uniform({21, sizes.model_dim});
      Matrix expected = of_each_sequence(x, rows, [&](const Matrix& sequence) {
        return attend(weights, sequence, sequence, options.heads, {.mask = reference::Mask::none});
      });
      if (residual == Residual::add) expected = add(expected, Matrix(x));
      std::vector<int> all(21);
      std::iota(all.begin(), all.end(), 0);
      const std::vector first{0, 3, 4};
      const Matrix expected_first = reference::stack(
          std::vector{expected.slice_rows(0, 1), expected.slice_rows(3, 1), expected.slice_rows(4, 1)});
      for (const int threads : {1, 2}) {
        LayerRunner runner = runner_for(weights, options, threads);
        EXPECT_TRUE(is_close_to(expected, runner.run(inputs_for(x, all, options), packed(rows))));
        EXPECT_TRUE(is_close_to(expected_first, runner.run(inputs_for(x, first, options), packed(rows))));
      }
    }
  }
}

// In float32, with few and with many rows.
TEST(GatheredAttention, PositionsActAsInMultiHeadAttention) {
  AttentionOptions plain = options_for({24, 6});
  std::vector<AttentionOptions> all(6, plain);
  all[0].relative_positions = {.buckets = 8, .max_distance = 6};
  all[1].rotary = {.base = 50};
  all[2].limits = {3, 3};
  all[3].key_value_heads = 2;
  all[4].disentangled_positions = {.span = 4, .max_distance = 9, .scores_keys = true, .scores_queries = true};
  all[5].rotary = {.base = 20};
  all[5].key_value_heads = 3;
  all[5].limits = {4, 4};
  for (const AttentionOptions& options : all) {
    RandomTensors random(5);
    auto weights = attention_weights(random, options);
    for (const char* name : {"key", "value"}) {
      weights[std::string(name) + ".weight"] = random.uniform({options.key_value_dim(), 24}, 0.4);
      weights[std::string(name) + ".bias"] = random.uniform({options.key_value_dim()}, 0.4);
    }
    weights["relative_position_bias.weight"] = random.uniform({8, 6});
    weights["distance_embedding.weight"] = random.uniform({8, 24});
    for (const char* name : {"distance_key", "distance_query"}) {
      weights[std::string(name) + ".weight"] = random.uniform({24, 24}, 0.4);
      weights[std::string(name) + ".bias"] = random.uniform({24}, 0.4);
    }
    const std::vector rows{1, 20, 7};
    const std::vector first{0, 1, 21};
    const Tensor x = random.uniform({28, 24});
    LayerRunner whole(std::make_shared<MultiHeadAttention>(make_scope(weights), options),
                      std::vector<Shape>{{kSourceRows, 24}}, 1);
    const Tensor expected = whole.run(std::vector{x}, packed(rows));
    std::vector<int> every(28);
    std::iota(every.begin(), every.end(), 0);
    for (const std::vector<int>& gathered : {first, every}) {
      const Tensor found = runner_for(weights, options, 2).run(inputs_for(x, gathered, options), packed(rows));
      for (std::size_t i = 0; i < gathered.size(); ++i) {
        for (int column = 0; column < 24; ++column) {
          ASSERT_NEAR(found.row(static_cast<Dim>(i))[column], expected.row(gathered[i])[column], 2e-6)
              << "options " << &options - all.data() << ", row " << gathered[i];
        }
      }
    }
  }
}

TEST(GatheredAttention, NeighboursDoNotChangeABitOfFirstRows) {
  RandomTensors random(2);
  const AttentionOptions options = options_for({96, 3});
  LayerRunner runner = runner_for(attention_weights(random, options), options, 2);
  const std::vector rows{5, 1, 40, 2};
  const Tensor x = random.uniform({48, 96});
  const Tensor together = runner.run(inputs_for(x, std::vector{0, 5, 6, 46}, options), packed(rows));
  int first = 0;
  for (std::size_t i = 0; i < rows.size(); first += rows[i++]) {
    const Tensor alone = runner.run(inputs_for(x.slice(first, rows[i]), std::vector{0}, options), packed({{rows[i]}}));
    EXPECT_TRUE(same_bits(together.slice(static_cast<Dim>(i), 1), alone)) << rows[i];
  }
}

TEST(GatheredAttention, ChecksWeightsAndShapes) {
  RandomTensors random(3);
  const AttentionOptions options = options_for({10, 2});
  const auto weights = attention_weights(random, options);
  const auto make = [&](const WeightScope& scope) { return std::make_shared<GatheredAttention>(scope, options); };
  expect_every_weight_is_checked(weights, make);
  const auto layer = make(make_scope(weights));
  EXPECT_EQ(shape_error(layer, {{4, 10}}), "1 inputs, expected 2");
  EXPECT_EQ(shape_error(layer, {{4, 9}, {5, 10}}), "gathered rows has shape [4, 9], expected [rows, 10]");
}

TEST(Gather, ReturnsTheRowsInOrder) {
  RandomTensors random(4);
  const Tensor x = random.uniform({6, 3});
  LayerRunner runner(std::make_shared<Gather>(), std::vector<Shape>{{kSourceRows, 3}, {kTargetRows}}, 1,
                     {DataType::float32, DataType::int32});
  const auto gather = [&](std::vector<std::int32_t> rows) {
    const Tensor numbers(rows.data(), DataType::int32, {static_cast<Dim>(rows.size())});
    return runner.run(std::vector{x, numbers}, {});
  };
  EXPECT_TRUE(same_bits(gather({4, 0, 4}), gather_rows(x, std::vector{4, 0, 4})));
  for (const int row : {-1, 6}) {
    EXPECT_EQ(message_of<InputError>([&] { gather({0, row}); }), "row " + std::to_string(row) + ", expected 0 to 5");
  }
}

}  // namespace
}  // namespace encdec
