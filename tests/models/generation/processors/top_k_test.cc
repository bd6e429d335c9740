#include "encdec/models/generation/processors/top_k.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>

#include "tests/models/generation/processors/processed.h"

namespace encdec {
namespace {

using testing::ElementsAre;

Scores kept(std::size_t count, Scores scores) {
  return processed(TopK(count), {.tokens = kStart}, std::move(scores));
}

TEST(TopK, LeavesTheLikeliest) {
  EXPECT_THAT(kept(2, {3, 1, 4, 2}), ElementsAre(3, kBanned, 4, kBanned));
  EXPECT_THAT(kept(1, {1, 2, 3, 4, 5}), ElementsAre(kBanned, kBanned, kBanned, kBanned, 5));
  EXPECT_THAT(kept(1, {5, 4, 3, 2, 1}), ElementsAre(5, kBanned, kBanned, kBanned, kBanned));
}

TEST(TopK, LeavesAllThatAreAsLikelyAsTheLastOne) {
  EXPECT_THAT(kept(2, {3, 1, 4, 3, 3}), ElementsAre(3, kBanned, 4, 3, 3));
}

TEST(TopK, LeavesAllOfFewerTokens) {
  EXPECT_THAT(kept(9, {3, 1}), ElementsAre(3, 1));
  EXPECT_THAT(kept(2, {kBanned, 1, kBanned}), ElementsAre(kBanned, 1, kBanned));
}

TEST(TopK, PassesOverWhatIsNotANumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Scores scores = kept(1, {nan, 1, 2, nan});
  EXPECT_EQ(scores[1], kBanned);
  EXPECT_EQ(scores[2], 2.0f);
}

TEST(TopK, AgreesWithASort) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    Scores scores(1 + random() % 200);
    for (float& score : scores) score = static_cast<float>(random() % 50);  // many equal ones
    const std::size_t count = 1 + random() % scores.size();
    Scores sorted = scores;
    std::ranges::sort(sorted, std::greater());
    Scores expected = scores;
    for (float& score : expected) score = score < sorted[count - 1] ? kBanned : score;
    ASSERT_EQ(kept(count, scores), expected) << "round " << round;
  }
}

}  // namespace
}  // namespace encdec
