#include "encdec/layers/transformer/relative_position_bias.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "encdec/engine/base/error.h"
#include "encdec/layers/transformer/masked_decoder_attention.h"
#include "encdec/layers/transformer/multi_head_attention.h"
#include "tests/layers/attention_fixture.h"
#include "tests/layers/bad_input.h"
#include "tests/support/comparison.h"
#include "tests/support/golden_layer.h"

namespace encdec {
namespace {

using Direction = RelativePositions::Direction;
using reference::Mask;
using reference::Matrix;

constexpr RelativePositions kBoth{.buckets = 32, .max_distance = 128, .direction = Direction::both};
constexpr RelativePositions kBackward{.buckets = 32, .max_distance = 128, .direction = Direction::backward};

struct Bucket {
  int distance;
  int bucket;
};

// Expected values from T5Attention._relative_position_bucket of transformers 5.23.
TEST(RelativePositionBucket, MatchesT5InBothDirections) {
  constexpr std::array<Bucket, 14> kExpected = {{{-1, 1},
                                                 {0, 0},
                                                 {1, 17},
                                                 {-8, 8},
                                                 {8, 24},
                                                 {-16, 10},
                                                 {16, 26},
                                                 {-64, 14},
                                                 {64, 30},
                                                 {-90, 14},
                                                 {-91, 15},
                                                 {90, 30},
                                                 {91, 31},
                                                 {100'000, 31}}};
  for (const auto& [distance, bucket] : kExpected) {
    EXPECT_EQ(relative_position_bucket(distance, kBoth), bucket) << distance;
  }
}

TEST(RelativePositionBucket, MatchesTheDecoderOfT5) {
  constexpr std::array<Bucket, 10> kExpected = {
      {{-15, 15}, {-16, 16}, {-17, 16}, {-32, 21}, {-64, 26}, {-112, 30}, {-113, 31}, {-100'000, 31}, {0, 0}, {5, 0}}};
  for (const auto& [distance, bucket] : kExpected) {
    EXPECT_EQ(relative_position_bucket(distance, kBackward), bucket) << distance;
  }
}

TEST(RelativePositionBucket, StaysInTheTableAndNeverFallsWithTheDistance) {
  for (const Direction direction : {Direction::both, Direction::backward}) {
    for (int buckets = direction == Direction::both ? 4 : 2; buckets < 40; ++buckets) {
      for (const int max_distance : {21, 64, 1000}) {
        const RelativePositions options{.buckets = buckets, .max_distance = max_distance, .direction = direction};
        ASSERT_NO_THROW(options.check());
        int last = 0;
        for (int distance = 0; distance >= -2 * max_distance; --distance) {
          const int bucket = relative_position_bucket(distance, options);
          ASSERT_GE(bucket, last) << buckets << " buckets, distance " << distance;
          ASSERT_LT(bucket, buckets);
          if (distance < -max_distance) {
            ASSERT_EQ(bucket, last) << "beyond the largest distance";
          }
          last = bucket;
        }
      }
    }
  }
}

TEST(RelativePositions, RefuseImpossibleSizes) {
  const auto failure = [](const RelativePositions& options) -> std::string {
    try {
      options.check();
    } catch (const ShapeError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(failure({.buckets = 3, .max_distance = 9}), "3 relative position buckets, expected at least 4");
  EXPECT_EQ(failure({.buckets = 1, .max_distance = 9, .direction = Direction::backward}),
            "1 relative position buckets, expected at least 2");
  EXPECT_EQ(failure({.buckets = 32, .max_distance = 8}),
            "largest relative distance 8 with 32 buckets, expected more than 8");
}

TEST(RelativePositionBias, EveryWeightIsChecked) {
  const auto make = [](const Tensor& weight) {
    return RelativePositionBias(make_scope({{"weight", weight}}), kBoth, 3);
  };
  EXPECT_EQ(make(Tensor::allocate({32, 3})).reach(), 128);
  EXPECT_THROW(make(Tensor::allocate({32, 4})), WeightError);
  EXPECT_THROW(make(Tensor::allocate({31, 3})), WeightError);
  EXPECT_EQ(RelativePositionBias().of_head(0), nullptr);
}

struct BiasCase {
  AttentionOptions options{.model_dim = 20, .heads = 3, .head_dim = 5, .score_scale = 1.0f};
  std::map<std::string, Tensor> weights;
  Tensor input;

  BiasCase(Direction direction, Dim rows) {
    options.relative_positions = {.buckets = 8, .max_distance = 11, .direction = direction};
    RandomTensors random(1);
    weights = attention_weights(random, options);
    weights["relative_position_bias.weight"] = random.uniform({8, 3}, 2.0);
    input = random.uniform({rows, 20});
  }

  Matrix expected(Mask mask) const {
    const Tensor& table = weights.at("relative_position_bias.weight");
    const auto bias = [&](int head, std::int64_t distance) -> double {
      return table.row(relative_position_bucket(static_cast<int>(distance), options.relative_positions))[head];
    };
    const Matrix x(input);
    return attend(weights, x, x, options.heads, {.mask = mask, .scale = 1.0, .bias = bias});
  }
};

TEST(MultiHeadAttention, AddsRelativePositionBiases) {
  for (const Dim rows : {1, 4, 40}) {
    const BiasCase c(Direction::both, rows);
    LayerRunner runner(std::make_shared<MultiHeadAttention>(make_scope(c.weights), c.options),
                       std::vector<Shape>{{kSourceRows, 20}}, 2);
    EXPECT_TRUE(is_close_to(c.expected(Mask::none),
                            runner.run(std::array{c.input}, packed(std::array{static_cast<int>(rows)}))))
        << rows << " rows";
  }
}

TEST(MaskedDecoderAttention, RelativePositionsContinueFromTheCache) {
  constexpr int kRows = 40;
  const BiasCase c(Direction::backward, kRows);
  const auto layer = std::make_shared<MaskedDecoderAttention>(make_scope(c.weights), c.options);
  for (const int first : {1, 13, kRows}) {
    LayerRunner runner(layer, std::vector<Shape>{{kTargetRows, 20}});
    const int slot = runner.state().cache_index.open();
    std::vector<Matrix> outputs;
    for (int past = 0; past < kRows; past += first) {
      const int rows = std::min(first, kRows - past);
      std::vector<Sequence> sequences = packed(std::array{rows}, std::array{past});
      sequences[0].slot = slot;
      runner.state().cache_index.append(slot, rows);
      outputs.emplace_back(runner.run(std::array{c.input.slice(past, rows)}, sequences));
    }
    Tensor all = Tensor::allocate({kRows, 20});
    const Matrix stacked = reference::stack(outputs);
    for (std::size_t i = 0; i < stacked.values.size(); ++i)
      all.data<float>()[i] = static_cast<float>(stacked.values[i]);
    EXPECT_TRUE(is_close_to(c.expected(Mask::causal), all)) << first << " rows at once";
  }
}

TEST(RelativePositionBias, MatchesT5InPyTorch) {
  constexpr int kRows = 27;
  const GoldenLayer golden("positions");
  for (const auto& [name, direction] :
       {std::pair{"relative_both", Direction::both}, {"relative_backward", Direction::backward}}) {
    const WeightScope weights = golden.weights(name);
    const AttentionOptions options{.model_dim = 15,
                                   .heads = 3,
                                   .bias = Bias::none,
                                   .score_scale = 1.0f,
                                   .relative_positions = {.buckets = 8, .max_distance = 20, .direction = direction}};
    const RelativePositionBias bias(weights / "relative_position_bias", options.relative_positions, 3);
    const Tensor biases = golden.output(name, "bias");  // [H * queries, keys]
    const auto golden_bias = [&](int head, std::int64_t query, std::int64_t key) {
      return biases.row(head * kRows + query)[key];
    };
    for (int head = 0; head < 3; ++head) {
      for (int query = 0; query < kRows; ++query) {
        for (int key = 0; key < kRows; ++key) {
          const int distance = std::clamp(key - query, -bias.reach(), bias.reach());
          ASSERT_EQ(bias.of_head(head)[distance], golden_bias(head, query, key)) << name << ", " << distance;
        }
      }
    }
    const Tensor x = golden.input(name, "x");
    const bool backward = direction == Direction::backward;
    const auto project = [&](const char* part, const Matrix& rows) {
      return linear(rows, Matrix((weights / part).tensor("weight", {15, 15})), nullptr);
    };
    const auto bias_at = [&](int head, std::int64_t distance) -> double {
      return distance <= 0 ? golden_bias(head, -distance, 0) : golden_bias(head, 0, distance);
    };
    const Matrix expected = project(
        "output",
        multi_head_attention(project("query", Matrix(x)), project("key", Matrix(x)), project("value", Matrix(x)), 3,
                             {.mask = backward ? Mask::causal : Mask::none, .scale = 1.0, .bias = bias_at}));
    std::shared_ptr<const Layer> layer;
    if (backward) {
      layer = std::make_shared<MaskedDecoderAttention>(weights, options);
    } else {
      layer = std::make_shared<MultiHeadAttention>(weights, options);
    }
    LayerRunner runner(layer, std::vector<Shape>{{kTargetRows, 15}});
    std::vector<Sequence> sequences = packed(std::array{kRows});
    runner.open_slots(sequences);
    EXPECT_TRUE(is_close_to(expected, golden.output(name, "y"))) << name;
    EXPECT_TRUE(is_close_to(expected, runner.run(std::array{x}, sequences))) << name;
  }
}

}  // namespace
}  // namespace encdec
