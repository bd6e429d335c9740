#include "encdec/models/generation/processors/no_repeat_ngram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/generation/processors/processed.h"

namespace encdec {
namespace {

using testing::ElementsAre;

using Where = NoRepeatNgram::Where;

TEST(NoRepeatNgram, BansWhatFollowedTheSameTokensBefore) {
  const NoRepeatNgram pairs(2, Where::history);
  EXPECT_THAT(processed(pairs, {1, 2, 1, 3, 1}), ElementsAre(0.5f, 1.5f, kBanned, kBanned));
  EXPECT_THAT(processed(pairs, {1}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
  const NoRepeatNgram triples(3, Where::history);
  EXPECT_THAT(processed(triples, {1, 2, 3, 1, 2}), ElementsAre(0.5f, 1.5f, 2.5f, kBanned));
  EXPECT_THAT(processed(triples, {1}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f)) << "shorter than the ngram";
}

TEST(NoRepeatNgram, OfOneTokenBansTheWholeHistory) {
  EXPECT_THAT(processed(NoRepeatNgram(1, Where::history), {1, 2}), ElementsAre(0.5f, kBanned, kBanned, 3.5f));
}

TEST(NoRepeatNgram, MayOverlapItself) {
  EXPECT_THAT(processed(NoRepeatNgram(3, Where::history), {2, 2, 2}), ElementsAre(0.5f, 1.5f, kBanned, 3.5f));
}

TEST(NoRepeatNgram, OfTheSourceLooksThereOnly) {
  const NoRepeatNgram pairs(2, Where::input);
  const Tokens tokens{1, 0, 1}, source{1, 2, 1, 9};  // 9 is not a token of the target
  EXPECT_THAT(processed(pairs, {.tokens = tokens, .source = source}, {0.5f, 1.5f, 2.5f, 3.5f}),
              ElementsAre(0.5f, 1.5f, kBanned, 3.5f));
}

TEST(NoRepeatNgram, OfTheInputLooksIntoThePromptWhereThereIsNoSource) {
  const Tokens tokens{1, 2, 1, 3, 1};
  EXPECT_THAT(processed(NoRepeatNgram(2, Where::input), {.tokens = tokens, .prompt_length = 2}, {0, 0, 0, 0}),
              ElementsAre(0, 0, kBanned, 0));
}

}  // namespace
}  // namespace encdec
