#include "dense/additive_scores.h"

#include <gtest/gtest.h>

#include "additive_fixture.h"
#include "tests/layers/bad_input.h"

namespace lessons {
namespace {

TEST(AdditiveScores, FollowTheFormulaForEverySize) {
  for (const DenseSizes& sizes : kDenseSizes) {
    for (const Dim hidden : {1, 8, 17, 37}) {
      for (const Bias bias : {Bias::none, Bias::required}) {
        const AdditiveCase c(1, sizes, hidden, bias);
        EXPECT_TRUE(is_close_to(c.expected_scores(), run_dense(c.layer<AdditiveScores>(), {c.queries, c.keys})))
            << "hidden " << hidden;
      }
    }
  }
}

TEST(AdditiveScores, MatchPyTorch) {
  const GoldenLayer golden("dense_attention");
  int compared = 0;
  for (const std::string& name : golden.cases()) {
    if (!name.starts_with("additive_")) continue;
    const AdditiveCase c(golden, name);
    EXPECT_TRUE(golden_is_within(c.expected_scores(), golden.output(name, "scores"))) << name;
    EXPECT_TRUE(is_close_to(c.expected_scores(), run_dense(c.layer<AdditiveScores>(), {c.queries, c.keys}))) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 4);
}

TEST(AdditiveScores, DoNotDependOnThreadsOrNeighbours) {
  const AdditiveCase c(2, {3, 39, 13, 20, 7, 4}, 67, Bias::none);
  expect_rows_are_independent(c.layer<AdditiveScores>(), {c.queries, c.keys});
}

TEST(AdditiveScores, EveryWeightIsChecked) {
  for (const Bias bias : {Bias::none, Bias::required}) {
    const AdditiveCase c(3, {1, 1, 1, 3, 4, 1}, 5, bias);
    expect_every_weight_is_checked<AdditiveScores>(c.weights, c.options);
  }
}

TEST(AdditiveScores, OptionalBiasesDefaultToZero) {
  AdditiveCase c(4, {2, 3, 5, 7, 4, 1}, 11, Bias::none);
  const Tensor without = run_dense(c.layer<AdditiveScores>(), {c.queries, c.keys});
  c.options.bias = Bias::optional;
  EXPECT_TRUE(same_bits(without, run_dense(c.layer<AdditiveScores>(), {c.queries, c.keys})));
}

TEST(AdditiveScores, RefuseInputsThatDoNotFit) {
  const auto layer = AdditiveCase(5, {1, 1, 1, 3, 4, 1}, 5, Bias::none).layer<AdditiveScores>();
  EXPECT_EQ(shape_error(layer, {{2, 3, 4}, {2, 5, 4}}), "queries have shape [2, 3, 4], expected rows of width 3");
  EXPECT_EQ(shape_error(layer, {{2, 3, 3}, {2, 5, 3}}), "keys have shape [2, 5, 3], expected rows of width 4");
  EXPECT_EQ(shape_error(layer, {{3, 3}, {2, 5, 4}}),
            "queries have shape [3, 3] and keys [2, 5, 4], expected [batch, rows, width] of one batch, or both [rows, "
            "width]");
}

}  // namespace
}  // namespace lessons
