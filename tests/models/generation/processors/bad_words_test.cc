#include "encdec/models/generation/processors/bad_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/generation/processors/processed.h"

namespace encdec {
namespace {

using testing::ElementsAre;

TEST(BadWords, BansASingleTokenAlways) {
  const BadWords rule({{2}}, {});
  EXPECT_THAT(processed(rule, {0}), ElementsAre(0.5f, 1.5f, kBanned, 3.5f));
  EXPECT_THAT(processed(rule, {2, 2}), ElementsAre(0.5f, 1.5f, kBanned, 3.5f));
}

TEST(BadWords, BansTheLastTokenOfAWordOnlyAfterItsBeginning) {
  const BadWords rule({{1, 2, 3}}, {});
  EXPECT_THAT(processed(rule, {0, 1, 2}), ElementsAre(0.5f, 1.5f, 2.5f, kBanned));
  EXPECT_THAT(processed(rule, {1, 2, 0}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
  EXPECT_THAT(processed(rule, {2}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f)) << "shorter than the word";
}

TEST(BadWords, WordsMayEndEachOther) {
  const BadWords rule({{1, 2, 3}, {2, 0}, {0, 2, 1}}, {});
  EXPECT_THAT(processed(rule, {1, 2}), ElementsAre(kBanned, 1.5f, 2.5f, kBanned));
}

TEST(BadWords, AnEndTokenAloneDoesNotCount) {
  const Tokens ends{0, 3};
  const BadWords rule({{3}, {0, 3}, {1}}, ends);
  EXPECT_THAT(processed(rule, {2}), ElementsAre(0.5f, kBanned, 2.5f, 3.5f));
  EXPECT_THAT(processed(rule, {0}), ElementsAre(0.5f, kBanned, 2.5f, kBanned));
}

TEST(BadWords, AWordWithoutTokensBansNothing) {
  EXPECT_THAT(processed(BadWords({{}}, {}), {2}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
}

}  // namespace
}  // namespace encdec
