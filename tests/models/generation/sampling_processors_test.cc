// Tests each setting of sampling alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <random>

#include "tests/models/generation/processed.h"

namespace encdec {
namespace {

using testing::Each;
using testing::ElementsAre;

ScoreList sampled(const GenerateOptions& settings, ScoreList scores) {
  return processed_by(make_sampling_processors(with_neutral_values(settings)), {.tokens = kStart}, std::move(scores));
}

TEST(Temperature, DividesAllScores) {
  EXPECT_THAT(sampled({.temperature = 0.5f, .top_k = 0}, {0.5f, 1.5f}), ElementsAre(1.0f, 3.0f));
}

TEST(Temperature, LeavesBannedTokensBanned) {
  const GenerateOptions settings{.temperature = 4.0f, .top_k = 0};
  EXPECT_THAT(sampled(settings, {kBanned, -2}), ElementsAre(kBanned, -0.5f));
  EXPECT_TRUE(any_changes_scores(make_sampling_processors(with_neutral_values(settings)), {.tokens = kStart}));
}

ScoreList most_likely(std::size_t count, ScoreList scores) {
  return sampled({.top_k = static_cast<int>(count)}, std::move(scores));
}

TEST(TopK, KeepsTheLikeliestTokens) {
  EXPECT_THAT(most_likely(2, {3, 1, 4, 2}), ElementsAre(3, kBanned, 4, kBanned));
  EXPECT_THAT(most_likely(1, {1, 2, 3, 4, 5}), ElementsAre(kBanned, kBanned, kBanned, kBanned, 5));
  EXPECT_THAT(most_likely(1, {5, 4, 3, 2, 1}), ElementsAre(5, kBanned, kBanned, kBanned, kBanned));
}

TEST(TopK, KeepsAllTokensAsLikelyAsTheLastOne) {
  EXPECT_THAT(most_likely(2, {3, 1, 4, 3, 3}), ElementsAre(3, kBanned, 4, 3, 3));
}

TEST(TopK, KeepsAllIfThereAreFewerTokens) {
  EXPECT_THAT(most_likely(9, {3, 1}), ElementsAre(3, 1));
  EXPECT_THAT(most_likely(2, {kBanned, 1, kBanned}), ElementsAre(kBanned, 1, kBanned));
}

TEST(TopK, IgnoresNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const ScoreList scores = most_likely(1, {nan, 1, 2, nan});
  EXPECT_EQ(scores[1], kBanned);
  EXPECT_EQ(scores[2], 2.0f);
}

TEST(TopK, AgreesWithASort) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    ScoreList scores(1 + random() % 200);
    for (float& score : scores) score = static_cast<float>(random() % 50);  // many are equal
    const std::size_t count = 1 + random() % scores.size();
    ScoreList sorted = scores;
    std::ranges::sort(sorted, std::greater());
    ScoreList expected = scores;
    for (float& score : expected) score = score < sorted[count - 1] ? kBanned : score;
    ASSERT_EQ(most_likely(count, scores), expected) << "round " << round;
  }
}

// Applies top_p. A beam keeps one more token than there are end tokens, so `min_tokens - 1` end tokens set the minimum.
ScoreList kept(float p, std::size_t min_tokens, ScoreList scores) {
  GenerateOptions settings{.top_k = 0, .top_p = p};
  if (min_tokens > 1) {
    settings.num_beams = 2;
    settings.eos_tokens = TokenIds(min_tokens - 1);
  }
  return sampled(settings, std::move(scores));
}

TEST(TopP, BansTheTailBeyondP) {
  const float most = std::log(0.5f), more = std::log(0.3f), less = std::log(0.15f), least = std::log(0.05f);
  EXPECT_THAT(kept(0.99f, 1, {least, most, less, more}), ElementsAre(least, most, less, more));
  EXPECT_THAT(kept(0.9f, 1, {least, most, less, more}), ElementsAre(kBanned, most, less, more));
  EXPECT_THAT(kept(0.75f, 1, {least, most, less, more}), ElementsAre(kBanned, most, kBanned, more));
  EXPECT_THAT(kept(0.4f, 1, {least, most, less, more}), ElementsAre(kBanned, most, kBanned, kBanned));
}

TEST(TopP, KeepsAtLeastTheMinimum) {
  EXPECT_THAT(kept(0.1f, 2, {1, 90, 60, 3}), ElementsAre(kBanned, 90, 60, kBanned));
  EXPECT_THAT(kept(0.1f, 9, {1, 90, 60, 3}), ElementsAre(1, 90, 60, 3));
}

TEST(TopP, TheFirstOfEquallyLikelyTokensIsKept) {
  EXPECT_THAT(kept(0.0f, 1, {2, 2, 2, 1}), ElementsAre(2, kBanned, kBanned, kBanned));
  EXPECT_THAT(kept(0.6f, 1, {2, 2, 2, 2}), ElementsAre(2, 2, 2, kBanned));
}

TEST(TopP, LeavesBannedTokensBanned) {
  EXPECT_THAT(kept(0.9f, 3, {kBanned, 2, kBanned, kBanned}), ElementsAre(kBanned, 2, kBanned, kBanned));
  EXPECT_THAT(kept(0.9f, 1, {kBanned, kBanned}), Each(kBanned));
}

TEST(TopP, KeepsScoresThatAreNotADistribution) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT(kept(0.5f, 1, {1, infinity, 2}), ElementsAre(1, infinity, 2));
  const ScoreList scores = kept(0.5f, 1, {1, std::numeric_limits<float>::quiet_NaN(), 2});
  EXPECT_EQ(scores[0], 1.0f);
  EXPECT_EQ(scores[2], 2.0f);
}

// Sorts the scores and drops one token after another. Returns nullopt if a sum is so close to the limit that rounding
// decides.
std::optional<ScoreList> dropped_one_by_one(double p, std::size_t min_tokens, const ScoreList& scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(
      order, [&](std::size_t a, std::size_t b) { return scores[a] != scores[b] ? scores[a] < scores[b] : a > b; });
  double total = 0;
  for (const float score : scores) total += std::exp(double{score});
  ScoreList result = scores;
  double sum = 0;
  for (std::size_t i = 0; i + min_tokens < order.size(); ++i) {
    sum += std::exp(double{scores[order[i]]}) / total;
    if (std::fabs(sum - (1 - p)) < 1e-5) return std::nullopt;
    if (sum > 1 - p) break;
    result[order[i]] = kBanned;
  }
  return result;
}

TEST(TopP, AgreesWithASort) {
  std::mt19937 random(7);
  int compared = 0;
  for (int round = 0; round < 500; ++round) {
    ScoreList scores(1 + random() % 300);
    std::normal_distribution<float> normal(0, static_cast<float>(1 + round % 4));
    for (float& score : scores) score = round % 2 == 0 ? normal(random) : std::round(normal(random));
    for (std::size_t i = 0; i < scores.size() / 3; ++i) scores[random() % scores.size()] = kBanned;
    const float p = static_cast<float>(random() % 100) / 100;
    const std::size_t min_tokens = 1 + random() % 4;
    const auto expected = dropped_one_by_one(double{p}, min_tokens, scores);
    if (!expected) continue;
    ASSERT_EQ(kept(p, min_tokens, scores), *expected) << "round " << round << ", p " << p;
    ++compared;
  }
  EXPECT_GT(compared, 400);
}

}  // namespace
}  // namespace encdec
