#include "encdec/models/generation/processors/repetition_penalty.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/generation/processors/processed.h"

namespace encdec {
namespace {

using testing::ElementsAre;

TEST(RepetitionPenalty, MakesTokensOfTheHistoryLessLikelyOnce) {
  const Tokens tokens{0, 2, 2};
  EXPECT_THAT(processed(RepetitionPenalty(2.0f), {.tokens = tokens}, {-1.0f, 1.5f, 2.0f, 3.5f}),
              ElementsAre(-2.0f, 1.5f, 1.0f, 3.5f));
}

TEST(RepetitionPenalty, BelowOneMakesThemMoreLikely) {
  const Tokens tokens{0, 1};
  EXPECT_THAT(processed(RepetitionPenalty(0.5f), {.tokens = tokens}, {-1.0f, 1.5f}), ElementsAre(-0.5f, 3.0f));
}

TEST(RepetitionPenalty, LeavesBannedTokensBanned) {
  const Tokens tokens{0, 1};
  EXPECT_THAT(processed(RepetitionPenalty(0.5f), {.tokens = tokens}, {kBanned, 0.0f}), ElementsAre(kBanned, 0.0f));
}

TEST(RepetitionPenalty, PassesOverAStartTokenOutsideTheVocabulary) {
  EXPECT_THAT(processed(RepetitionPenalty(2.0f), {4, 1}), ElementsAre(0.5f, 0.75f, 2.5f, 3.5f));
}

TEST(RepetitionPenalty, MayChangeScoresAtEveryStep) {
  const Tokens tokens{0};
  EXPECT_TRUE(RepetitionPenalty(2.0f).changes_scores({.tokens = tokens}));
}

}  // namespace
}  // namespace encdec
