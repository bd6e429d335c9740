#include "encdec/models/generation/processors/suppress_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/generation/processors/processed.h"

namespace encdec {
namespace {

using testing::ElementsAre;

TEST(SuppressTokens, BansThemAlways) {
  const SuppressTokens rule({0, 3});
  EXPECT_THAT(processed(rule, {1}), ElementsAre(kBanned, 1.5f, 2.5f, kBanned));
  EXPECT_THAT(processed(rule, {1, 0, 3}), ElementsAre(kBanned, 1.5f, 2.5f, kBanned));
}

TEST(SuppressTokens, PassesOverTokensOutsideTheVocabulary) {
  EXPECT_THAT(processed(SuppressTokens({4, -1}), {1}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
}

}  // namespace
}  // namespace encdec
