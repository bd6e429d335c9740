#include "encdec/models/generation/processors/top_p.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <random>

#include "tests/models/generation/processors/processed.h"

namespace encdec {
namespace {

using testing::Each;
using testing::ElementsAre;

Scores kept(float p, std::size_t min_tokens, Scores scores) {
  return processed(TopP(p, min_tokens), {.tokens = kStart}, std::move(scores));
}

TEST(TopP, BansTheTailThatFitsIntoTheRest) {
  const float most = std::log(0.5f), more = std::log(0.3f), less = std::log(0.15f), least = std::log(0.05f);
  EXPECT_THAT(kept(0.99f, 1, {least, most, less, more}), ElementsAre(least, most, less, more));
  EXPECT_THAT(kept(0.9f, 1, {least, most, less, more}), ElementsAre(kBanned, most, less, more));
  EXPECT_THAT(kept(0.75f, 1, {least, most, less, more}), ElementsAre(kBanned, most, kBanned, more));
  EXPECT_THAT(kept(0.4f, 1, {least, most, less, more}), ElementsAre(kBanned, most, kBanned, kBanned));
}

TEST(TopP, LeavesAsManyAsAskedFor) {
  EXPECT_THAT(kept(0.1f, 2, {1, 90, 60, 3}), ElementsAre(kBanned, 90, 60, kBanned));
  EXPECT_THAT(kept(0.1f, 9, {1, 90, 60, 3}), ElementsAre(1, 90, 60, 3));
}

TEST(TopP, OfEquallyLikelyTokensTheFirstStays) {
  EXPECT_THAT(kept(0.0f, 1, {2, 2, 2, 1}), ElementsAre(2, kBanned, kBanned, kBanned));
  EXPECT_THAT(kept(0.6f, 1, {2, 2, 2, 2}), ElementsAre(2, 2, 2, kBanned));
}

TEST(TopP, LeavesBannedTokensBanned) {
  EXPECT_THAT(kept(0.9f, 3, {kBanned, 2, kBanned, kBanned}), ElementsAre(kBanned, 2, kBanned, kBanned));
  EXPECT_THAT(kept(0.9f, 1, {kBanned, kBanned}), Each(kBanned));
}

TEST(TopP, LeavesWhatIsNotADistribution) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT(kept(0.5f, 1, {1, infinity, 2}), ElementsAre(1, infinity, 2));
  const Scores scores = kept(0.5f, 1, {1, std::numeric_limits<float>::quiet_NaN(), 2});
  EXPECT_EQ(scores[0], 1.0f);
  EXPECT_EQ(scores[2], 2.0f);
}

// Sorts, and drops one token after another. Nullopt where a sum is so near to the limit that rounding decides.
std::optional<Scores> dropped_one_by_one(double p, std::size_t min_tokens, const Scores& scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(
      order, [&](std::size_t a, std::size_t b) { return scores[a] != scores[b] ? scores[a] < scores[b] : a > b; });
  double total = 0;
  for (const float score : scores) total += std::exp(double{score});
  Scores result = scores;
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
    Scores scores(1 + random() % 300);
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
