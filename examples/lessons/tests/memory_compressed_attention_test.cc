#include "long_inputs/memory_compressed_attention.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>

#include "golden_layer.h"
#include "self_attention_fixture.h"
#include "tests/layers/bad_input.h"
#include "tests/support/comparison.h"

namespace lessons {
namespace {

using reference::Matrix;

Matrix expected_of(const std::map<std::string, Tensor>& weights, const MemoryCompressedAttentionOptions& options,
                   const Tensor& x, const std::vector<int>& rows) {
  const auto shorten = [&](const std::string& part, const Matrix& sequence) {
    const Matrix bias(weights.at(part + "_convolution.bias"));
    return convolution_1d(project(weights, part, sequence), weights.at(part + "_convolution.weight"), &bias,
                          options.stride);
  };
  return of_each_sequence(x, rows, [&](const Matrix& sequence) {
    return project(weights, "output",
                   multi_head_attention(project(weights, "query", sequence), shorten("key", sequence),
                                        shorten("value", sequence), options.attention.heads, {}));
  });
}

struct CompressedCase : SelfAttentionCase<MemoryCompressedAttention, MemoryCompressedAttentionOptions> {
  CompressedCase(std::uint64_t seed, const AttentionSizes& sizes, std::vector<int> given_rows, Dim kernel = 3,
                 Dim stride = 3, Residual residual = Residual::none)
      : SelfAttentionCase({.attention = options_for(sizes, residual), .kernel = kernel, .stride = stride},
                          std::move(given_rows)) {
    RandomTensors random(seed);
    weights = attention_weights(random, options.attention);
    const Dim inner = options.attention.inner_dim();
    for (const std::string name : {"key_convolution", "value_convolution"}) {
      weights[name + ".weight"] =
          random.uniform({inner, inner, kernel}, std::sqrt(3.0 / static_cast<double>(inner * kernel)));
      weights[name + ".bias"] = random.uniform({inner}, 0.5);
    }
    make_inputs(random, options.attention);
  }

  Matrix expected() const { return with_residual(expected_of(weights, options, inputs[0], rows)); }
};

std::string describe(const CompressedCase& c) {
  return "D " + std::to_string(c.options.attention.model_dim) + ", heads " + std::to_string(c.options.attention.heads) +
         ", kernel " + std::to_string(c.options.kernel) + ", stride " + std::to_string(c.options.stride) + ", rows " +
         testing::PrintToString(c.rows);
}

TEST(MemoryCompressedAttention, FollowsTheFormulaForEverySize) {
  for (const AttentionSizes& sizes : kAttentionSizes) {
    if (sizes.model_dim > 33) continue;  // the error bounds of larger chained sums are too loose to show much
    for (const std::vector<int>& rows : {std::vector{1}, {7}, {3, 1, 29}, {2, 0, 17}}) {
      for (const auto& [kernel, stride] : {std::pair<Dim, Dim>{3, 3}, {5, 2}, {1, 1}}) {
        const CompressedCase c(1, sizes, rows, kernel, stride, kernel == 5 ? Residual::add : Residual::none);
        for (const int threads : {1, 2}) EXPECT_TRUE(is_close_to(c.expected(), c.run(threads))) << describe(c);
      }
    }
  }
}

TEST(MemoryCompressedAttention, MatchesPyTorch) {
  const GoldenLayer golden("memory_compressed_attention");
  for (const std::string& name : golden.cases()) {
    const auto number = [&](const char* what) { return golden.input(name, what).data<std::int32_t>()[0]; };
    const Tensor x = golden.input(name, "x"), lengths = golden.input(name, "lengths");
    const std::vector<int> rows(lengths.data<std::int32_t>(), lengths.data<std::int32_t>() + lengths.elements());
    const Dim width = x.width();
    const MemoryCompressedAttentionOptions options{.attention = {.model_dim = width, .heads = number("heads")},
                                                   .kernel = number("kernel"),
                                                   .stride = number("stride")};
    const WeightScope scope = golden.weights(name);
    std::map<std::string, Tensor> weights = square_attention_weights(scope, width);
    for (const std::string part : {"key_convolution", "value_convolution"}) {
      weights[part + ".weight"] = scope.tensor(part + ".weight", {width, width, options.kernel});
      weights[part + ".bias"] = scope.tensor(part + ".bias", {width});
    }
    LayerRunner runner(std::make_shared<MemoryCompressedAttention>(scope, options),
                       std::vector<Shape>{{kSourceRows, width}});
    const Matrix expected = expected_of(weights, options, x, rows);
    EXPECT_TRUE(is_close_to(expected, golden.output(name, "y"))) << name;
    EXPECT_TRUE(is_close_to(expected, runner.run(std::array{x}, packed(rows)))) << name;
  }
}

TEST(MemoryCompressedAttention, BatchNeighboursDoNotChangeABit) {
  for (const AttentionSizes& sizes : {AttentionSizes{15, 5}, AttentionSizes{64, 2}, AttentionSizes{131, 1}}) {
    expect_neighbours_do_not_change_a_bit(CompressedCase(2, sizes, {3, 70, 1, 8, 17}));
  }
}

TEST(MemoryCompressedAttention, ANaNStaysInItsSequence) {
  expect_a_nan_stays_in_its_sequence(CompressedCase(3, {64, 2}, {7, 9, 4}), 8, 15);
}

TEST(MemoryCompressedAttention, NumberOfThreadsDoesNotChangeABit) {
  const CompressedCase c(4, {96, 3}, {3, 80, 1, 9}, 5, 3, Residual::add);
  EXPECT_TRUE(same_bits(c.run(1), c.run(3)));
}

TEST(MemoryCompressedAttention, AnObserverGetsTheWeightsOfTheCompressedKeys) {
  const CompressedCase c(5, {20, 4}, {10, 2});
  LayerRunner runner = c.runner(2);
  const Tensor unobserved = runner.run(c.inputs, packed(c.rows));
  int calls = 0;
  runner.state().observe_attention(Edge{1}, [&](const AttentionWeights& attention) {
    ++calls;
    EXPECT_EQ(attention.first_key, 0);
    EXPECT_EQ(attention.weights.size(), attention.row < 10 ? 4u : 1u);
  });
  EXPECT_TRUE(same_bits(unobserved, runner.run(c.inputs, packed(c.rows))));
  EXPECT_EQ(calls, 12 * 4);
}

TEST(MemoryCompressedAttention, EveryWeightIsChecked) {
  const CompressedCase c(6, {10, 2, 3}, {1});
  expect_every_weight_is_checked<MemoryCompressedAttention>(c.weights, c.options);
}

TEST(MemoryCompressedAttention, RefusesRelativePositions) {
  CompressedCase c(7, {10, 2}, {1});
  c.options.attention.relative_positions.buckets = 4;
  try {
    c.runner(1);
    ADD_FAILURE() << "no exception";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "memory_compressed_attention: relative positions, expected none: its keys have no positions");
  }
}

TEST(MemoryCompressedAttention, RefusesInputsThatDoNotFit) {
  const CompressedCase c(8, {10, 2}, {1});
  const auto layer = std::make_shared<MemoryCompressedAttention>(make_scope(c.weights), c.options);
  EXPECT_EQ(shape_error(layer, {{4, 11}}), "input has shape [4, 11], expected [rows, 10]");
  EXPECT_EQ(shape_error(layer, {{4, 10}, {4, 10}}), "2 inputs, expected 1");
}

}  // namespace
}  // namespace lessons
