#include "encdec/engine/kernels/logits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/support/random_tensors.h"
#include "tests/support/vector_targets.h"

namespace encdec::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<float> random_scores(std::uint64_t seed, int count, double limit = 10.0) {
  RandomTensors random(seed);
  const Tensor tensor = random.uniform({count}, limit);
  return {tensor.data<float>(), tensor.data<float>() + count};
}

// Returns every length around the sizes of vectors, and some around the thousands of scores that are read at once.
std::vector<int> lengths() {
  std::vector<int> all(70);
  std::iota(all.begin(), all.end(), 1);
  all.insert(all.end(), {1023, 1024, 1025, 5000, 40000});
  return all;
}

// The first of the largest scores wins, wherever they are. NaN and minus infinity never do.
TEST(ArgMax, FindsTheFirstOfTheLargestScores) {
  for_each_vector_target([] {
    for (const int count : lengths()) {
      for (int index = 0; index < count; index += 1 + count / 70) {
        std::vector<float> scores = random_scores(1, count), unordered(scores.size(), kNaN);
        for (std::size_t i = static_cast<std::size_t>(index); i < scores.size(); i += 1 + scores.size() / 9) {
          scores[i] = 100.0f;
        }
        ASSERT_EQ(arg_max(scores), index) << "of " << count;
        unordered[static_cast<std::size_t>(index)] = -7.0f;
        ASSERT_EQ(arg_max(unordered), index) << "of " << count;
      }
      for (const float banned : {-kInfinity, kNaN}) {
        EXPECT_EQ(arg_max(std::vector<float>(static_cast<std::size_t>(count), banned)), -1);
      }
      EXPECT_EQ(arg_max(std::vector<float>(static_cast<std::size_t>(count), -3.0f)), 0);
    }
    EXPECT_EQ(arg_max({}), -1);
    EXPECT_EQ(arg_max(std::vector<float>{-0.0f, 0.0f}), 0);
    EXPECT_EQ(arg_max(std::vector<float>{0.0f, -0.0f}), 0);
    std::vector<float> scores(40, -kInfinity);
    scores[23] = std::numeric_limits<float>::lowest();
    EXPECT_EQ(arg_max(scores), 23);
    scores[39] = kInfinity;
    EXPECT_EQ(arg_max(scores), 39);
  });
}

TEST(LogSumExp, FollowsTheFormulaWhereverTheLargestScoreIs) {
  for_each_vector_target([] {
    for (const int count : lengths()) {
      std::vector<float> scores = random_scores(5, count);
      for (const int index : {0, count / 2, count - 1}) {
        scores[static_cast<std::size_t>(index)] += 12.0f;  // large at the start, then also in the middle and at the end
        double sum = 0.0;
        for (const float score : scores) sum += std::exp(static_cast<double>(score));
        // Relative errors of the terms become an absolute error of the logarithm. In units of 2^-24: each difference
        // from the maximum is rounded (60), exp is off by 4, and the result is rounded twice. The sum is off by 1 a
        // term; of many terms, at least four lanes each sum a part, and every thousand the sums are rescaled.
        const double terms = count <= 70 ? count : count * (1.0 / 4 + 4.0 / 1000);
        const double tolerance = 0x1p-24 * (60 + 4 + terms + 2 * std::abs(std::log(sum)) + 1);
        ASSERT_NEAR(log_sum_exp(scores), std::log(sum), tolerance) << count << " scores, index " << index;
      }
    }
  });
}

TEST(LogSumExp, BannedScoresBeforeAndAfterAreIgnored) {
  for_each_vector_target([] {
    EXPECT_EQ(log_sum_exp({}), -kInfinity);
    for (const int count : lengths()) {
      for (const int index : {0, count / 2, count - 1}) {
        std::vector<float> scores(static_cast<std::size_t>(count), -kInfinity);
        EXPECT_EQ(log_sum_exp(scores), -kInfinity);
        scores[static_cast<std::size_t>(index)] = -3.5f;
        EXPECT_EQ(log_sum_exp(scores), -3.5f) << "index " << index << " of " << count;
      }
    }
  });
}

TEST(LogSumExp, LargeScoresDoNotOverflow) {
  for_each_vector_target([] {
    for (const int count : {1, 16, 33}) {
      for (const float score : {-1e4f, 1e4f, 1e30f}) {
        const std::vector<float> scores(static_cast<std::size_t>(count), score);
        EXPECT_FLOAT_EQ(log_sum_exp(scores), score + std::log(static_cast<float>(count)));
      }
    }
  });
}

TEST(LogSumExp, ANaNMakesTheResultNaN) {
  for_each_vector_target([] {
    for (const int count : lengths()) {
      for (int index = 0; index < count; index += 1 + count / 40) {
        std::vector<float> scores = random_scores(4, count);
        scores[static_cast<std::size_t>(index)] = kNaN;
        ASSERT_TRUE(std::isnan(log_sum_exp(scores))) << "index " << index << " of " << count;
      }
    }
  });
}

TEST(TopK, IsTheBeginningOfTheSortedScores) {
  for_each_vector_target([] {
    std::vector<std::int32_t> found;
    for (const int size : {1, 2, 7, 16, 33, 200, 1000}) {
      for (const int count : {0, 1, 2, 5, 16, 999, 2000}) {
        std::vector<float> scores = random_scores(static_cast<std::uint64_t>(size), size, 3.0);
        for (float& score : scores) score = std::round(score * 8) / 8;  // so that some are equal
        std::vector<std::int32_t> expected(scores.size());
        std::iota(expected.begin(), expected.end(), 0);
        std::ranges::stable_sort(expected, std::greater(),
                                 [&](std::int32_t i) { return scores[static_cast<std::size_t>(i)]; });
        expected.resize(std::min(scores.size(), static_cast<std::size_t>(count)));
        top_k(scores, count, found);
        ASSERT_EQ(found, expected) << count << " of " << size;
      }
    }
  });
}

TEST(TopK, LeavesOutBannedScores) {
  for_each_vector_target([] {
    std::vector<float> scores(50, -kInfinity);
    scores[13] = -2.0f, scores[40] = 1.0f, scores[41] = kNaN;
    std::vector<std::int32_t> found;
    top_k(scores, 5, found);
    EXPECT_EQ(found, (std::vector<std::int32_t>{40, 13}));
  });
}

}  // namespace
}  // namespace encdec::kernels
