#include "encdec/models/generation/processors/encoder_repetition_penalty.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/generation/processors/processed.h"

namespace encdec {
namespace {

using testing::ElementsAre;

TEST(EncoderRepetitionPenalty, MakesTokensOfTheSourceMoreLikelyOnce) {
  const Tokens tokens{3}, source{0, 2, 2};
  EXPECT_THAT(
      processed(EncoderRepetitionPenalty(2.0f), {.tokens = tokens, .source = source}, {-1.0f, 1.5f, 2.0f, 3.5f}),
      ElementsAre(-0.5f, 1.5f, 4.0f, 3.5f));
}

TEST(EncoderRepetitionPenalty, TakesThePromptWhereThereIsNoSource) {
  const Tokens tokens{0, 2, 1};
  EXPECT_THAT(processed(EncoderRepetitionPenalty(2.0f), {.tokens = tokens, .prompt_length = 2}, {-1.0f, 1.5f, 2.0f}),
              ElementsAre(-0.5f, 1.5f, 4.0f));
}

TEST(EncoderRepetitionPenalty, PassesOverTokensOfALargerVocabulary) {
  const Tokens tokens{0}, source{9, 1};
  EXPECT_THAT(processed(EncoderRepetitionPenalty(2.0f), {.tokens = tokens, .source = source}, {1.0f, 1.0f}),
              ElementsAre(1.0f, 2.0f));
}

TEST(EncoderRepetitionPenalty, MayChangeScoresAtEveryStep) {
  const Tokens tokens{0};
  EXPECT_TRUE(EncoderRepetitionPenalty(2.0f).changes_scores({.tokens = tokens}));
}

}  // namespace
}  // namespace encdec
