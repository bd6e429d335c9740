#include "encdec/models/generation/processors/forced_bos.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/generation/processors/processed.h"

namespace encdec {
namespace {

using testing::ElementsAre;

TEST(ForcedBos, IsAllThatMayFollowASingleToken) {
  const ForcedBos rule(2);
  EXPECT_THAT(processed(rule, {1}), ElementsAre(kBanned, kBanned, 0.0f, kBanned));
  EXPECT_THAT(processed(rule, {1, 2}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
}

TEST(ForcedBos, DoesNotFollowAPrefix) {
  const Tokens tokens{1, 1};
  const TokenHistory history{.tokens = tokens, .prompt_length = 2};
  EXPECT_THAT(processed(ForcedBos(0), history, {1, 2}), ElementsAre(1, 2));
  EXPECT_FALSE(ForcedBos(0).changes_scores(history));
}

TEST(ForcedBos, ComesBackFromABan) {
  const Tokens tokens{1};
  EXPECT_THAT(processed(ForcedBos(0), {.tokens = tokens}, {kBanned, 2}), ElementsAre(0, kBanned));
  EXPECT_TRUE(ForcedBos(0).changes_scores({.tokens = tokens}));
}

}  // namespace
}  // namespace encdec
