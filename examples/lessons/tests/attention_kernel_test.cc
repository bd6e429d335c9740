#include "encdec/layers/lessons/dense/attention_kernel.h"

#include <gtest/gtest.h>

#include "tests/support/comparison.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"
#include "tests/support/vector_targets.h"

namespace encdec::kernels {
namespace {

using reference::Matrix;

struct Sizes {
  int queries, keys, width;
};

// Whole tiles, tiles plus and minus one, and rows that do not fill whole vectors.
constexpr Sizes kSizes[] = {{1, 1, 1}, {4, 4, 16}, {5, 7, 3}, {3, 9, 17}, {8, 8, 64}, {6, 5, 131}, {2, 3, 15}};

template <class Score>
Tensor scores_of(const Tensor& queries, const Tensor& keys, const Score& score) {
  Tensor scores = Tensor::allocate({queries.rows(), keys.rows()});
  score({.queries = queries.data<float>(),
         .keys = keys.data<float>(),
         .query_count = static_cast<int>(queries.rows()),
         .key_count = static_cast<int>(keys.rows()),
         .width = static_cast<int>(queries.width()),
         .scores = scores.data<float>(),
         .scores_stride = keys.rows()});
  return scores;
}

// Expects, for all sizes and targets, that scores follow the formula, and that the bits of a score depend only on its
// query and its key.
template <class Score, class Expected>
void expect_scores(const Score& score, const Expected& expected) {
  for_each_vector_target([&] {
    for (const auto& [query_count, key_count, width] : kSizes) {
      RandomTensors random(1);
      const Tensor queries = random.uniform({query_count, width}), keys = random.uniform({key_count, width});
      const Tensor scores = scores_of(queries, keys, score);
      EXPECT_TRUE(is_close_to(expected(Matrix(queries), Matrix(keys)), scores)) << "width " << width;
      for (int i = 0; i < query_count; ++i) {
        for (int j = 0; j < key_count; ++j) {
          EXPECT_EQ(scores_of(queries.slice(i, 1), keys.slice(j, 1), score).row(0)[0], scores.row(i)[j]);
        }
      }
    }
  });
}

TEST(DotProductScoresKernel, FollowsTheFormulaAndScoresDoNotDependOnOtherPairs) {
  expect_scores(
      [](const ScoredRows& rows) { dot_product_scores(rows, 3.0f); },
      [](const Matrix& queries, const Matrix& keys) { return reference::dot_product_scores(queries, keys, 3.0); });
}

TEST(AdditiveScoresKernel, FollowsTheFormulaAndScoresDoNotDependOnOtherPairs) {
  const Tensor weights = RandomTensors(2).uniform({131}), bias = RandomTensors(3).uniform({1});
  expect_scores([&](const ScoredRows& rows) { additive_scores(rows, weights.data<float>(), *bias.data<float>()); },
                [&](const Matrix& queries, const Matrix& keys) {
                  const Matrix shift(bias);
                  return reference::additive_scores(queries, keys, Matrix(weights.slice(0, queries.columns)), &shift);
                });
}

TEST(WeightedSumKernel, FollowsTheFormulaAndSumsDoNotDependOnOtherQueries) {
  const auto sum = [](const Tensor& weights, const Tensor& values) {
    Tensor output = Tensor::allocate({weights.rows(), values.width()});
    weighted_sum({.weights = weights.data<float>(),
                  .weights_stride = weights.width(),
                  .values = values.data<float>(),
                  .query_count = static_cast<int>(weights.rows()),
                  .value_count = static_cast<int>(values.rows()),
                  .width = static_cast<int>(values.width()),
                  .output = output.data<float>()});
    return output;
  };
  for_each_vector_target([&] {
    for (const auto& [query_count, value_count, width] : kSizes) {
      RandomTensors random(4);
      const Tensor weights = random.uniform({query_count, value_count}), values = random.uniform({value_count, width});
      const Tensor output = sum(weights, values);
      EXPECT_TRUE(is_close_to(reference::weighted_sum(Matrix(weights), Matrix(values)), output)) << "width " << width;
      for (int i = 0; i < query_count; ++i) {
        EXPECT_TRUE(same_bits(sum(weights.slice(i, 1), values), output.slice(i, 1))) << "width " << width;
      }
    }
  });
}

}  // namespace
}  // namespace encdec::kernels
