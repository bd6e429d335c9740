#include "encdec/models/generation/processors/temperature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/generation/processors/processed.h"

namespace encdec {
namespace {

using testing::ElementsAre;

TEST(Temperature, DividesAllScores) {
  EXPECT_THAT(processed(Temperature(0.5f), {1}), ElementsAre(1.0f, 3.0f, 5.0f, 7.0f));
}

TEST(Temperature, LeavesBannedTokensBanned) {
  const Tokens tokens{1};
  EXPECT_THAT(processed(Temperature(4.0f), {.tokens = tokens}, {kBanned, -2}), ElementsAre(kBanned, -0.5f));
  EXPECT_TRUE(Temperature(4.0f).changes_scores({.tokens = tokens}));
}

}  // namespace
}  // namespace encdec
