#include "dense/masked_softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dense_fixture.h"
#include "tests/layers/bad_input.h"

namespace lessons {
namespace {

using reference::Matrix;

Tensor softmax_of(const Tensor& scores) {
  return run_dense(std::make_shared<MaskedSoftmax>(), {scores});
}
Tensor softmax_of(const Tensor& scores, const Tensor& lengths) {
  return run_dense(std::make_shared<MaskedSoftmax>(), {scores, lengths});
}

// Returns the expected weights. Scores may be off by `relative_error` of themselves.
Matrix expected_weights(const Tensor& scores, const std::optional<Tensor>& lengths, double relative_error = 0.0) {
  return for_each_member(scores.shape()[0], [&](Dim b) {
    Matrix rows(member(scores, b));
    for (std::size_t i = 0; i < rows.errors.size(); ++i) rows.errors[i] += std::abs(rows.values[i]) * relative_error;
    return softmax(mask_beyond(rows, lengths_of_rows(lengths, b, scores.shape()[1], scores.shape()[2])));
  });
}

TEST(MaskedSoftmax, FollowsTheFormulaForEverySizeAndMask) {
  for (const auto& [batch, queries, keys] :
       {std::array<Dim, 3>{1, 1, 1}, {2, 3, 5}, {6, 1, 16}, {3, 7, 17}, {1, 2, 131}}) {
    const Tensor scores = RandomTensors(1).uniform({batch, queries, keys}, 4.0);
    EXPECT_TRUE(is_close_to(expected_weights(scores, {}), softmax_of(scores)));
    for (const Shape& shape : {Shape{batch}, Shape{batch, queries}}) {
      const Tensor lengths = some_lengths(shape, keys);
      EXPECT_TRUE(is_close_to(expected_weights(scores, lengths), softmax_of(scores, lengths))) << to_string(shape);
    }
  }
}

TEST(MaskedSoftmax, MatchesPyTorch) {
  const GoldenLayer golden("dense_attention");
  for (const std::string& name : golden.cases()) {
    const Tensor scores = golden.output(name, "scores");
    std::optional<Tensor> lengths;
    if (golden.has_input(name, "lengths")) lengths = golden.input(name, "lengths");
    // The golden weights come from scores that were not yet rounded to float32.
    EXPECT_TRUE(golden_is_within(expected_weights(scores, lengths, 0x1p-24), golden.output(name, "weights"))) << name;
    EXPECT_TRUE(
        is_close_to(expected_weights(scores, lengths), lengths ? softmax_of(scores, *lengths) : softmax_of(scores)))
        << name;
  }
}

TEST(MaskedSoftmax, MatchesPyTorchWithoutABatch) {
  const GoldenLayer golden("masked_softmax");
  for (const std::string& name : golden.cases()) {
    const Tensor scores = golden.input(name, "scores");
    const Dim rows = scores.shape()[0], keys = scores.shape()[1];
    std::optional<Tensor> lengths, of_member;
    if (golden.has_input(name, "lengths")) {
      lengths = golden.input(name, "lengths");
      of_member = lengths->reshape({1, rows});
    }
    const Matrix expected = expected_weights(scores.reshape({1, rows, keys}), of_member);
    EXPECT_TRUE(golden_is_within(expected, golden.output(name, "weights"))) << name;
    EXPECT_TRUE(is_close_to(expected, lengths ? softmax_of(scores, *lengths) : softmax_of(scores))) << name;
  }
}

// The examples of d2l.ai, section 10.3. Counts the keys that keep a weight under each mask.
TEST(MaskedSoftmax, KeepsTheKeysOfTheD2lExamples) {
  const Tensor scores = RandomTensors(2).uniform({2, 2, 4});
  const auto valid_counts = [&](const Tensor& lengths) {
    const Tensor weights = softmax_of(scores, lengths);
    std::vector<int> counts;
    for (int row = 0; row < 4; ++row) {
      float sum = 0.0f;
      int count = 0;
      for (int j = 0; j < 4; ++j) {
        sum += weights.row(row)[j];
        if (weights.row(row)[j] > 0.0f) {
          EXPECT_EQ(count++, j);
        }
      }
      EXPECT_FLOAT_EQ(sum, 1.0f);
      counts.push_back(count);
    }
    return counts;
  };
  EXPECT_EQ(valid_counts(int32s({2}, {2, 3})), (std::vector{2, 2, 3, 3}));
  EXPECT_EQ(valid_counts(int32s({2, 2}, {1, 3, 2, 4})), (std::vector{1, 3, 2, 4}));
}

TEST(MaskedSoftmax, EachRowOfAQueryDimensionHasItsOwnLength) {
  const Tensor scores = RandomTensors(3).uniform({2, 3, 5});
  const std::vector<std::int32_t> lengths = {2, 5, 0, 1, 3, 4};
  EXPECT_TRUE(same_bits(softmax_of(scores, int32s({2, 3}, lengths)).reshape({6, 5}),
                        softmax_of(scores.reshape({6, 5}), int32s({6}, lengths))));
}

TEST(MaskedSoftmax, ALengthOfZeroOrLessGivesAllKeysEqualWeight) {
  for (const int length : {0, -1, std::numeric_limits<std::int32_t>::min()}) {
    const Tensor weights = softmax_of(floats({1, 4}, {1, 2, 3, 4}), int32s({1}, {length}));
    EXPECT_TRUE(same_bits(floats({1, 4}, {0.25f, 0.25f, 0.25f, 0.25f}), weights)) << length;
  }
}

TEST(MaskedSoftmax, ALengthBeyondTheKeysMasksNothing) {
  const Tensor scores = RandomTensors(4).uniform({1, 5});
  EXPECT_TRUE(
      same_bits(softmax_of(scores), softmax_of(scores, int32s({1}, {std::numeric_limits<std::int32_t>::max()}))));
}

// Scores near -1e6 distinguish a mask of -1e6 from an infinite mask, which would give all weight to the first key.
TEST(MaskedSoftmax, AMaskedScoreIsMinusAMillion) {
  EXPECT_TRUE(same_bits(floats({2, 2}, {0.5f, 0.5f, 0.0f, 1.0f}),
                        softmax_of(floats({2, 2}, {-1e6f, 7.0f, -2e6f, 7.0f}), int32s({2}, {1, 1}))));
}

TEST(MaskedSoftmax, MaskedKeysDoNotChangeABitOfTheOthers) {
  const Tensor scores = RandomTensors(5).uniform({3, 37}, 5.0);
  const Tensor masked = softmax_of(scores, int32s({3}, {20, 20, 20}));
  for (int row = 0; row < 3; ++row) {
    const Tensor alone = softmax_of(floats({1, 20}, {scores.row(row), scores.row(row) + 20}));
    EXPECT_TRUE(same_bits(alone, floats({1, 20}, {masked.row(row), masked.row(row) + 20})));
    for (int j = 20; j < 37; ++j) EXPECT_EQ(masked.row(row)[j], 0.0f);
  }
}

TEST(MaskedSoftmax, ANaNStaysInItsRow) {
  Tensor scores = RandomTensors(6).uniform({3, 4});
  const Tensor clean = softmax_of(scores);
  scores.row(1)[2] = std::numeric_limits<float>::quiet_NaN();
  const Tensor poisoned = softmax_of(scores);
  for (const int row : {0, 2}) EXPECT_TRUE(same_bits(clean.slice(row, 1), poisoned.slice(row, 1)));
  for (int j = 0; j < 4; ++j) EXPECT_TRUE(std::isnan(poisoned.row(1)[j]));
}

TEST(MaskedSoftmax, DoesNotDependOnThreadsOrNeighbours) {
  RandomTensors random(7);
  const Tensor scores = random.uniform({3, 91, 257}, 5.0);
  const auto layer = std::make_shared<MaskedSoftmax>();
  for (const Shape& shape : {Shape{3}, Shape{3, 91}}) {
    const Tensor lengths = some_lengths(shape, 257);
    const Tensor all = softmax_of(scores, lengths);
    EXPECT_TRUE(same_bits(all, run_dense(layer, {scores, lengths}, 3)));
    for (Dim b = 0; b < 3; ++b) {
      EXPECT_TRUE(same_bits(all.slice(b, 1), softmax_of(scores.slice(b, 1), lengths.slice(b, 1))));
    }
  }
}

TEST(MaskedSoftmax, WithoutKeysHasNoWeights) {
  const Tensor none({}, DataType::float32, {2, 3, 0});
  EXPECT_EQ(softmax_of(none, int32s({2}, {0, 1})).shape(), none.shape());
}

TEST(MaskedSoftmax, RefusesInputsThatDoNotFit) {
  const auto layer = std::make_shared<MaskedSoftmax>();
  EXPECT_EQ(shape_error(layer, {}), "0 inputs, expected 1 or 2");
  EXPECT_EQ(shape_error(layer, {{4}}), "scores have shape [4], expected [batch, queries, keys] or [rows, keys]");
  EXPECT_EQ(shape_error(layer, {{2, 3, 4}, {3}}), "valid lengths have shape [3], expected [2] or [2, 3]");
  EXPECT_EQ(shape_error(layer, {{2, 3, 4}, {2, 4}}), "valid lengths have shape [2, 4], expected [2] or [2, 3]");
  EXPECT_EQ(shape_error(layer, {{3, 4}, {4}}), "valid lengths have shape [4], expected [3]");
  EXPECT_EQ(shape_error(layer, {{kBatch, kTargetRows, kSourceRows}, {kBatch}}), "no exception");
}

TEST(MaskedSoftmax, RefusesLengthsThatAreNotIntegers) {
  try {
    softmax_of(floats({1, 2}, {1, 2}), floats({1}, {1}));
    ADD_FAILURE() << "no exception";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "valid lengths: stored as float32, expected int32");
  }
}

}  // namespace
}  // namespace lessons
