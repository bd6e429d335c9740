#include "dense/weighted_sum.h"

#include <gtest/gtest.h>

#include "dense_fixture.h"
#include "tests/layers/bad_input.h"

namespace lessons {
namespace {

using reference::Matrix;

const auto kLayer = std::make_shared<WeightedSum>();

Matrix expected_sums(const Tensor& weights, const Tensor& values) {
  return for_each_member(weights.shape()[0], [&](Dim b) {
    return reference::weighted_sum(Matrix(member(weights, b)), Matrix(member(values, b)));
  });
}

TEST(WeightedSum, FollowsTheFormulaForEverySize) {
  for (const DenseSizes& sizes : kDenseSizes) {
    RandomTensors random(1);
    const Tensor weights = random.uniform({sizes.batch, sizes.queries, sizes.keys});
    const Tensor values = random.uniform({sizes.batch, sizes.keys, sizes.value_dim});
    EXPECT_TRUE(is_close_to(expected_sums(weights, values), run_dense(kLayer, {weights, values})));
  }
}

TEST(WeightedSum, MatchesPyTorch) {
  const GoldenLayer golden("dense_attention");
  for (const std::string& name : golden.cases()) {
    const Tensor weights = golden.output(name, "weights"), values = golden.input(name, "values");
    EXPECT_TRUE(is_close_to(expected_sums(weights, values), run_dense(kLayer, {weights, values}))) << name;
  }
}

TEST(WeightedSum, IsExactForWholeNumbers) {
  RandomTensors random(2);
  const Tensor weights = random.integers({2, 5, 9}, 20), values = random.integers({2, 9, 83}, 20);
  EXPECT_TRUE(equals(expected_sums(weights, values), run_dense(kLayer, {weights, values})));
}

TEST(WeightedSum, DoesNotDependOnThreadsOrNeighbours) {
  RandomTensors random(3);
  expect_rows_are_independent(kLayer, {random.uniform({3, 39, 21}), random.uniform({3, 21, 67})});
}

TEST(WeightedSum, IsZeroWithoutKeys) {
  const Tensor none({}, DataType::float32, {2, 3, 0}), values({}, DataType::float32, {2, 0, 5});
  EXPECT_TRUE(same_bits(Tensor::allocate({2, 3, 5}), run_dense(kLayer, {none, values})));
}

TEST(WeightedSum, RefusesInputsThatDoNotFit) {
  EXPECT_EQ(shape_error(kLayer, {{2, 3, 4}}), "1 inputs, expected weights and values");
  for (const Shape& values : {Shape{3, 4, 7}, Shape{2, 3, 7}, Shape{4, 7}, Shape{7}}) {
    EXPECT_EQ(shape_error(kLayer, {{2, 3, 4}, values}),
              "weights have shape [2, 3, 4] and values " + to_string(values) +
                  ", expected [batch, queries, keys] and [batch, keys, width], or both without a batch");
  }
}

}  // namespace
}  // namespace lessons
