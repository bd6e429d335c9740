#include "encdec/models/generation/logits_processor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace encdec {
namespace {

constexpr float kBanned = -std::numeric_limits<float>::infinity();

using testing::ElementsAre;

std::vector<float> processed(const LogitsProcessor& processor, const std::vector<std::int32_t>& tokens,
                             std::size_t prompt_length = 1) {
  std::vector<float> logits{0.5f, 1.5f, 2.5f, 3.5f};
  processor.process({tokens, prompt_length}, logits);
  return logits;
}

TEST(BadWords, BansASingleTokenAlways) {
  const BadWords processor(std::vector<std::vector<std::int32_t>>{{2}});
  EXPECT_THAT(processed(processor, {0}), ElementsAre(0.5f, 1.5f, kBanned, 3.5f));
  EXPECT_THAT(processed(processor, {2, 2}), ElementsAre(0.5f, 1.5f, kBanned, 3.5f));
}

TEST(BadWords, BansTheLastTokenOfAWordOnlyAfterItsBeginning) {
  const BadWords processor(std::vector<std::vector<std::int32_t>>{{1, 2, 3}});
  EXPECT_THAT(processed(processor, {0, 1, 2}), ElementsAre(0.5f, 1.5f, 2.5f, kBanned));
  EXPECT_THAT(processed(processor, {1, 2, 0}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
  EXPECT_THAT(processed(processor, {2}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f)) << "shorter than the word";
}

TEST(MinLength, BansEveryEndTokenUntilTheLengthIsReached) {
  const MinLength processor(3, {0, 3});
  EXPECT_THAT(processed(processor, {1, 1}), ElementsAre(kBanned, 1.5f, 2.5f, kBanned));
  EXPECT_THAT(processed(processor, {1, 1, 1}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
}

TEST(RepetitionPenalty, MakesTokensOfTheHistoryLessLikelyOnce) {
  std::vector<float> logits{-1.0f, 1.5f, 2.0f, 3.5f};
  const std::vector<std::int32_t> tokens{0, 2, 2};
  RepetitionPenalty(2.0f).process({tokens}, logits);
  EXPECT_THAT(logits, ElementsAre(-2.0f, 1.5f, 1.0f, 3.5f));
}

TEST(NoRepeatNgram, BansWhatFollowedTheSameTokensBefore) {
  const NoRepeatNgram pairs(2, NoRepeatNgram::Where::history);
  EXPECT_THAT(processed(pairs, {1, 2, 1, 3, 1}), ElementsAre(0.5f, 1.5f, kBanned, kBanned));
  EXPECT_THAT(processed(pairs, {1}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
  const NoRepeatNgram single(1, NoRepeatNgram::Where::history);
  EXPECT_THAT(processed(single, {1, 2}), ElementsAre(0.5f, kBanned, kBanned, 3.5f));
  const NoRepeatNgram triples(3, NoRepeatNgram::Where::history);
  EXPECT_THAT(processed(triples, {1, 2, 3, 1, 2}), ElementsAre(0.5f, 1.5f, 2.5f, kBanned));
  EXPECT_THAT(processed(triples, {1}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f)) << "shorter than the ngram";
}

TEST(NoRepeatNgram, OfTheSourceLooksThereOnly) {
  const NoRepeatNgram pairs(2, NoRepeatNgram::Where::source);
  std::vector<float> logits{0.5f, 1.5f, 2.5f, 3.5f};
  const std::vector<std::int32_t> tokens{1, 0, 1}, source{1, 2, 1, 9};  // 9 is not a token of the target
  pairs.process({tokens, 1, source}, logits);
  EXPECT_THAT(logits, ElementsAre(0.5f, 1.5f, kBanned, 3.5f));
}

TEST(MinNewTokens, DoesNotCountThePrompt) {
  const MinNewTokens processor(2, {3});
  EXPECT_EQ(processed(processor, {1, 1, 1}, 3).back(), kBanned);
  EXPECT_EQ(processed(processor, {1, 1, 1, 1}, 3).back(), kBanned);
  EXPECT_EQ(processed(processor, {1, 1, 1, 1, 1}, 3).back(), 3.5f);
}

TEST(MakeLogitsProcessors, AsksForNoRuleThatHasNothingToDo) {
  EXPECT_TRUE(make_logits_processors({}).empty());
  GenerationConfig config;
  config.min_length = 5;
  EXPECT_TRUE(make_logits_processors(config).empty()) << "there is no end token to ban";
  config.eos_tokens = {0};
  config.bad_words = {{1}};
  EXPECT_EQ(make_logits_processors(config).size(), 2u);
}

TEST(MakeLogitsProcessors, MinNewTokensGoesBeforeMinLength) {
  GenerationConfig config;
  config.eos_tokens = {0};
  config.min_length = 9;
  config.min_new_tokens = 1;
  const auto processors = make_logits_processors(config);
  ASSERT_EQ(processors.size(), 1u);
  EXPECT_EQ(processed(*processors.front(), {1}).front(), kBanned);
  EXPECT_EQ(processed(*processors.front(), {1, 1}).front(), 0.5f);
}

}  // namespace
}  // namespace encdec
