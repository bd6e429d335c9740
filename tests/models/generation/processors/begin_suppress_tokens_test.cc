#include "encdec/models/generation/processors/begin_suppress_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/generation/processors/processed.h"

namespace encdec {
namespace {

using testing::ElementsAre;

using FirstToken = BeginSuppressTokens::FirstToken;

TEST(BeginSuppressTokens, BansThemAsTheFirstToken) {
  const BeginSuppressTokens rule({1}, FirstToken::free);
  EXPECT_THAT(processed(rule, {0}), ElementsAre(0.5f, kBanned, 2.5f, 3.5f));
  EXPECT_THAT(processed(rule, {0, 0}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
}

TEST(BeginSuppressTokens, BansThemAfterAForcedToken) {
  const BeginSuppressTokens rule({1}, FirstToken::forced);
  EXPECT_THAT(processed(rule, {0}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
  EXPECT_THAT(processed(rule, {0, 0}), ElementsAre(0.5f, kBanned, 2.5f, 3.5f));
  EXPECT_THAT(processed(rule, {0, 0, 0}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
}

TEST(BeginSuppressTokens, AfterAPrefixNothingIsForced) {
  const Tokens tokens{0, 0};
  EXPECT_THAT(processed(BeginSuppressTokens({1}, FirstToken::forced), {.tokens = tokens, .prompt_length = 2}, {1, 2}),
              ElementsAre(1, kBanned));
}

}  // namespace
}  // namespace encdec
