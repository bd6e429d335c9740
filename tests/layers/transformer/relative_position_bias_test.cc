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

// Expected values from T5Attention._relative_position_bucket of transformers 5.23.
TEST(RelativePositionBucket, MatchesT5) {
  for (const auto& [distance, bucket] : {std::pair(-1, 1),
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
                                         {100'000, 31}}) {
    EXPECT_EQ(relative_position_bucket(distance, kBoth), bucket) << distance;
  }
  for (const auto& [distance, bucket] : {std::pair(-15, 15),
                                         {-16, 16},
                                         {-17, 16},
                                         {-32, 21},
                                         {-64, 26},
                                         {-112, 30},
                                         {-113, 31},
                                         {-100'000, 31},
                                         {0, 0},
                                         {5, 0}}) {
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
