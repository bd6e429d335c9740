#include "encdec/models/generation/processors/exponential_decay_length_penalty.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/models/generation/processors/processed.h"

namespace encdec {
namespace {

using testing::ElementsAre;

TEST(ExponentialDecayLengthPenalty, MakesTheEndLikelierStepByStepAfterItsStart) {
  const ExponentialDecayLengthPenalty rule({.start = 1, .factor = 2.0f}, {0, 1, 1});
  const Tokens tokens{3, 3, 3, 3, 3};
  const auto after = [&](std::size_t length) {
    return TokenHistory{.tokens = std::span(tokens).first(length), .prompt_length = 2};
  };
  EXPECT_THAT(processed(rule, after(3), {1, -2, 3}), ElementsAre(1, -2, 3));
  EXPECT_FALSE(rule.changes_scores(after(3)));
  EXPECT_THAT(processed(rule, after(4), {1, -2, 3}), ElementsAre(2, 0, 3));
  EXPECT_THAT(processed(rule, after(5), {1, -2, 3}), ElementsAre(4, 4, 3)) << "once for a token that is there twice";
  EXPECT_TRUE(rule.changes_scores(after(5)));
}

TEST(ExponentialDecayLengthPenalty, LeavesABannedEndBanned) {
  const Tokens tokens{3, 3};
  EXPECT_THAT(
      processed(ExponentialDecayLengthPenalty({.start = 0, .factor = 2.0f}, {0}), {.tokens = tokens}, {kBanned}),
      ElementsAre(kBanned));
}

TEST(ExponentialDecayLengthPenalty, NeverMakesAScoreInfinite) {
  constexpr float kMax = std::numeric_limits<float>::max();
  const ExponentialDecayLengthPenalty rule({.start = 0, .factor = 1e6f}, {0, 1, 2});
  const Tokens tokens(1000, 3);
  EXPECT_THAT(processed(rule, {.tokens = tokens}, {-8, 0, kMax}), ElementsAre(kMax, 0, kMax));
}

}  // namespace
}  // namespace encdec
