#include "dense/dot_product_scores.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dense_fixture.h"
#include "tests/layers/bad_input.h"

namespace lessons {
namespace {

using reference::Matrix;

std::shared_ptr<const Layer> layer_with(ScoreScale scale) {
  return std::make_shared<DotProductScores>(DotProductOptions{.scale = scale});
}

Matrix expected_scores(const Tensor& queries, const Tensor& keys, ScoreScale scale) {
  const double divisor = scale == ScoreScale::plain ? 1.0 : std::sqrt(static_cast<double>(queries.width()));
  return for_each_member(queries.shape()[0], [&](Dim b) {
    return reference::dot_product_scores(Matrix(member(queries, b)), Matrix(member(keys, b)), divisor);
  });
}

TEST(DotProductScores, FollowTheFormulaForEverySize) {
  for (const DenseSizes& sizes : kDenseSizes) {
    RandomTensors random(1);
    const Tensor queries = random.uniform({sizes.batch, sizes.queries, sizes.query_dim});
    const Tensor keys = random.uniform({sizes.batch, sizes.keys, sizes.query_dim});
    for (const ScoreScale scale : {ScoreScale::plain, ScoreScale::scaled}) {
      EXPECT_TRUE(is_close_to(expected_scores(queries, keys, scale), run_dense(layer_with(scale), {queries, keys})));
    }
  }
}

TEST(DotProductScores, MatchPyTorch) {
  const GoldenLayer golden("dense_attention");
  int compared = 0;
  for (const std::string& name : golden.cases()) {
    const bool is_plain = name.starts_with("plain_");
    if (!is_plain && !name.starts_with("scaled_")) continue;
    const ScoreScale scale = is_plain ? ScoreScale::plain : ScoreScale::scaled;
    const Tensor queries = golden.input(name, "queries"), keys = golden.input(name, "keys");
    const Matrix expected = expected_scores(queries, keys, scale);
    EXPECT_TRUE(golden_is_within(expected, golden.output(name, "scores"))) << name;
    EXPECT_TRUE(is_close_to(expected, run_dense(layer_with(scale), {queries, keys}))) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 5);
}

TEST(DotProductScores, AreExactForWholeNumbers) {
  RandomTensors random(2);
  const Tensor queries = random.integers({2, 5, 31}, 20), keys = random.integers({2, 7, 31}, 20);
  EXPECT_TRUE(equals(expected_scores(queries, keys, ScoreScale::plain),
                     run_dense(layer_with(ScoreScale::plain), {queries, keys})));
}

TEST(DotProductScores, DoNotDependOnThreadsOrNeighbours) {
  RandomTensors random(3);
  for (const ScoreScale scale : {ScoreScale::plain, ScoreScale::scaled}) {
    expect_rows_are_independent(layer_with(scale), {random.uniform({3, 39, 67}), random.uniform({3, 21, 67})});
  }
}

TEST(DotProductScores, AreEmptyWithoutKeys) {
  const Tensor scores = run_dense(layer_with(ScoreScale::scaled),
                                  {Tensor::allocate({2, 3, 4}), Tensor({}, DataType::float32, {2, 0, 4})});
  EXPECT_EQ(scores.shape(), (Shape{2, 3, 0}));
}

TEST(DotProductScores, RefuseInputsThatDoNotFit) {
  const auto layer = layer_with(ScoreScale::plain);
  EXPECT_EQ(shape_error(layer, {{2, 3, 4}}), "1 inputs, expected queries and keys");
  EXPECT_EQ(shape_error(layer, {{2, 3, 4}, {2, 5, 6}}),
            "queries have shape [2, 3, 4] and keys [2, 5, 6], expected rows of equal width, at least 1");
  for (const Shape& keys : {Shape{3, 5, 4}, Shape{5, 4}, Shape{4}, Shape{2, 3, 5, 4}}) {
    EXPECT_EQ(shape_error(layer, {{2, 3, 4}, keys}),
              "queries have shape [2, 3, 4] and keys " + to_string(keys) +
                  ", expected [batch, rows, width] of one batch, or both [rows, width]");
  }
  EXPECT_EQ(shape_error(layer, {{kBatch, kTargetRows, 4}, {kBatch, kSourceRows, 4}}), "no exception");
}

}  // namespace
}  // namespace lessons
