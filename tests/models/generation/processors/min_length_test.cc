#include "encdec/models/generation/processors/min_length.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/generation/processors/processed.h"

namespace encdec {
namespace {

using testing::ElementsAre;

TEST(MinLength, BansEveryEndTokenUntilTheLengthIsReached) {
  const MinLength rule(3, {0, 3});
  EXPECT_THAT(processed(rule, {1, 1}), ElementsAre(kBanned, 1.5f, 2.5f, kBanned));
  EXPECT_THAT(processed(rule, {1, 1, 1}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
}

TEST(MinLength, CountsThePrompt) {
  const Tokens tokens{1, 1, 1};
  EXPECT_THAT(processed(MinLength(3, {0}), {.tokens = tokens, .prompt_length = 3}, {1, 2}), ElementsAre(1, 2));
}

}  // namespace
}  // namespace encdec
