// Tests each logits processor alone, through its setting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/models/generation/processed.h"

namespace encdec {
namespace {

using testing::ElementsAre;

bool may_change_scores(const GenerateOptions& settings, const TokenHistory& history) {
  return any_changes_scores(make_logits_processors(with_neutral_values(settings)), history);
}

TEST(RepetitionPenalty, MakesTokensOfTheHistoryLessLikelyOnce) {
  const TokenIds tokens{0, 2, 2};
  EXPECT_THAT(processed({.repetition_penalty = 2.0f}, {.tokens = tokens}, {-1.0f, 1.5f, 2.0f, 3.5f}),
              ElementsAre(-2.0f, 1.5f, 1.0f, 3.5f));
}

TEST(RepetitionPenalty, BelowOneMakesTokensOfTheHistoryMoreLikely) {
  const TokenIds tokens{0, 1};
  EXPECT_THAT(processed({.repetition_penalty = 0.5f}, {.tokens = tokens}, {-1.0f, 1.5f}), ElementsAre(-0.5f, 3.0f));
}

TEST(RepetitionPenalty, LeavesBannedTokensBanned) {
  const TokenIds tokens{0, 1};
  EXPECT_THAT(processed({.repetition_penalty = 0.5f}, {.tokens = tokens}, {kBanned, 0.0f}), ElementsAre(kBanned, 0.0f));
}

TEST(RepetitionPenalty, IgnoresAStartTokenOutsideTheVocabulary) {
  EXPECT_THAT(processed({.repetition_penalty = 2.0f}, {4, 1}), ElementsAre(0.5f, 0.75f, 2.5f, 3.5f));
}

TEST(RepetitionPenalty, MayChangeScoresAtEveryStep) {
  EXPECT_TRUE(may_change_scores({.repetition_penalty = 2.0f}, {.tokens = kStart}));
  EXPECT_TRUE(may_change_scores({.encoder_repetition_penalty = 2.0f}, {.tokens = kStart}));
}

TEST(EncoderRepetitionPenalty, MakesTokensOfTheSourceMoreLikelyOnce) {
  const TokenIds tokens{3}, source{0, 2, 2};
  EXPECT_THAT(
      processed({.encoder_repetition_penalty = 2.0f}, {.tokens = tokens, .source = source}, {-1.0f, 1.5f, 2.0f, 3.5f}),
      ElementsAre(-0.5f, 1.5f, 4.0f, 3.5f));
}

TEST(EncoderRepetitionPenalty, UsesThePromptIfThereIsNoSource) {
  const TokenIds tokens{0, 2, 1};
  EXPECT_THAT(
      processed({.encoder_repetition_penalty = 2.0f}, {.tokens = tokens, .prompt_length = 2}, {-1.0f, 1.5f, 2.0f}),
      ElementsAre(-0.5f, 1.5f, 4.0f));
}

TEST(EncoderRepetitionPenalty, IgnoresTokensOutsideTheVocabulary) {
  const TokenIds source{9, 1};
  EXPECT_THAT(processed({.encoder_repetition_penalty = 2.0f}, {.tokens = kStart, .source = source}, {1.0f, 1.0f}),
              ElementsAre(1.0f, 2.0f));
}

TEST(NoRepeatNgram, BansTokensThatWouldRepeatAnNgram) {
  EXPECT_THAT(processed({.no_repeat_ngram_size = 2}, {1, 2, 1, 3, 1}), ElementsAre(0.5f, 1.5f, kBanned, kBanned));
  EXPECT_THAT(processed({.no_repeat_ngram_size = 2}, {1}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
  EXPECT_THAT(processed({.no_repeat_ngram_size = 3}, {1, 2, 3, 1, 2}), ElementsAre(0.5f, 1.5f, 2.5f, kBanned));
  EXPECT_THAT(processed({.no_repeat_ngram_size = 3}, {1}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f))
      << "shorter than the ngram";
}

TEST(NoRepeatNgram, OfSizeOneBansTheWholeHistory) {
  EXPECT_THAT(processed({.no_repeat_ngram_size = 1}, {1, 2}), ElementsAre(0.5f, kBanned, kBanned, 3.5f));
}

TEST(NoRepeatNgram, NgramsMayOverlap) {
  EXPECT_THAT(processed({.no_repeat_ngram_size = 3}, {2, 2, 2}), ElementsAre(0.5f, 1.5f, kBanned, 3.5f));
}

TEST(NoRepeatNgram, OfTheSourceIgnoresTheHistory) {
  const TokenIds tokens{1, 0, 1}, source{1, 2, 1, 9};  // 9 is outside the target vocabulary
  EXPECT_THAT(processed({.encoder_no_repeat_ngram_size = 2}, {.tokens = tokens, .source = source}, {1, 2, 3, 4}),
              ElementsAre(1, 2, kBanned, 4));
}

TEST(NoRepeatNgram, OfTheSourceUsesThePromptIfThereIsNoSource) {
  const TokenIds tokens{1, 2, 1, 3, 1};
  EXPECT_THAT(processed({.encoder_no_repeat_ngram_size = 2}, {.tokens = tokens, .prompt_length = 2}, {0, 0, 0, 0}),
              ElementsAre(0, 0, kBanned, 0));
}

TEST(BadWords, BansASingleTokenAlways) {
  EXPECT_THAT(processed({.bad_words = std::vector<TokenIds>{{2}}}, {0}), ElementsAre(0.5f, 1.5f, kBanned, 3.5f));
  EXPECT_THAT(processed({.bad_words = std::vector<TokenIds>{{2}}}, {2, 2}), ElementsAre(0.5f, 1.5f, kBanned, 3.5f));
}

TEST(BadWords, BansTheLastTokenOfAWordOnlyAfterItsBeginning) {
  const GenerateOptions settings{.bad_words = std::vector<TokenIds>{{1, 2, 3}}};
  EXPECT_THAT(processed(settings, {0, 1, 2}), ElementsAre(0.5f, 1.5f, 2.5f, kBanned));
  EXPECT_THAT(processed(settings, {1, 2, 0}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
  EXPECT_THAT(processed(settings, {2}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f)) << "shorter than the word";
}

TEST(BadWords, AWordMayBeTheEndOfAnother) {
  EXPECT_THAT(processed({.bad_words = std::vector<TokenIds>{{1, 2, 3}, {2, 0}, {0, 2, 1}}}, {1, 2}),
              ElementsAre(kBanned, 1.5f, 2.5f, kBanned));
}

TEST(BadWords, AnEndTokenAloneIsNotBanned) {
  const GenerateOptions settings{.bad_words = std::vector<TokenIds>{{3}, {0, 3}, {1}}, .eos_tokens = TokenIds{0, 3}};
  EXPECT_THAT(processed(settings, {2}), ElementsAre(0.5f, kBanned, 2.5f, 3.5f));
  EXPECT_THAT(processed(settings, {0}), ElementsAre(0.5f, kBanned, 2.5f, kBanned));
}

TEST(BadWords, AWordWithoutTokensBansNothing) {
  GenerateOptions settings;
  settings.bad_words.emplace(1);
  EXPECT_THAT(processed(settings, {2}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
}

TEST(MinLength, BansEveryEndTokenUntilTheLengthIsReached) {
  const GenerateOptions settings{.min_length = 3, .eos_tokens = TokenIds{0, 3}};
  EXPECT_THAT(processed(settings, {1, 1}), ElementsAre(kBanned, 1.5f, 2.5f, kBanned));
  EXPECT_THAT(processed(settings, {1, 1, 1}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
}

TEST(MinLength, CountsThePrompt) {
  const TokenIds tokens{1, 1, 1};
  EXPECT_THAT(processed({.min_length = 3, .eos_tokens = TokenIds{0}}, {.tokens = tokens, .prompt_length = 3}, {1, 2}),
              ElementsAre(1, 2));
}

TEST(MinNewTokens, DoesNotCountThePrompt) {
  const TokenIds tokens{0, 0, 0, 0, 0};
  const auto after = [&](std::size_t length) {
    return processed({.min_new_tokens = 2, .eos_tokens = TokenIds{1}},
                     {.tokens = std::span(tokens).first(length), .prompt_length = 3}, {1, 2});
  };
  EXPECT_THAT(after(3), ElementsAre(1, kBanned));
  EXPECT_THAT(after(4), ElementsAre(1, kBanned));
  EXPECT_THAT(after(5), ElementsAre(1, 2));
}

TEST(ForcedBos, OnlyItMayFollowASingleToken) {
  EXPECT_THAT(processed({.forced_bos_token = 2}, {1}), ElementsAre(kBanned, kBanned, 0.0f, kBanned));
  EXPECT_THAT(processed({.forced_bos_token = 2}, {1, 2}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
}

TEST(ForcedBos, DoesNotFollowAPrefix) {
  const TokenIds tokens{1, 1};
  const TokenHistory history{.tokens = tokens, .prompt_length = 2};
  EXPECT_THAT(processed({.forced_bos_token = 0}, history, {1, 2}), ElementsAre(1, 2));
  EXPECT_FALSE(may_change_scores({.forced_bos_token = 0}, history));
}

TEST(ForcedBos, OverridesABan) {
  EXPECT_THAT(processed({.forced_bos_token = 0}, {.tokens = kStart}, {kBanned, 2}), ElementsAre(0, kBanned));
  EXPECT_TRUE(may_change_scores({.forced_bos_token = 0}, {.tokens = kStart}));
}

TEST(ForcedEos, OnlyForcedTokensMayComeLast) {
  const GenerateOptions settings{.forced_eos_tokens = TokenIds{1, 3}};
  const TokenIds tokens{0, 0, 0, 0};
  const auto after = [&](std::size_t length) {
    return TokenHistory{.tokens = std::span(tokens).first(length), .prompt_length = 2, .new_token_limit = 2};
  };
  EXPECT_THAT(processed(settings, after(2), {1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(processed(settings, after(3), {1, 2, 3, 4}), ElementsAre(kBanned, 0, kBanned, 0))
      << "any of the end tokens";
  EXPECT_THAT(processed(settings, after(4), {1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
  EXPECT_FALSE(may_change_scores(settings, after(2)));
  EXPECT_TRUE(may_change_scores(settings, after(3)));
}

GenerateOptions decay(ExponentialDecay decay, TokenIds eos_tokens) {
  return {.exponential_decay_length_penalty = decay, .eos_tokens = std::move(eos_tokens)};
}

TEST(ExponentialDecayLengthPenalty, MakesTheEndLikelierWithEachStepAfterItsStart) {
  const GenerateOptions settings = decay({.start = 1, .factor = 2.0f}, {0, 1, 1});
  const TokenIds tokens{3, 3, 3, 3, 3};
  const auto after = [&](std::size_t length) {
    return TokenHistory{.tokens = std::span(tokens).first(length), .prompt_length = 2};
  };
  EXPECT_THAT(processed(settings, after(3), {1, -2, 3}), ElementsAre(1, -2, 3));
  EXPECT_FALSE(may_change_scores(settings, after(3)));
  EXPECT_THAT(processed(settings, after(4), {1, -2, 3}), ElementsAre(2, 0, 3));
  EXPECT_THAT(processed(settings, after(5), {1, -2, 3}), ElementsAre(4, 4, 3))
      << "once for a token that is there twice";
  EXPECT_TRUE(may_change_scores(settings, after(5)));
}

TEST(ExponentialDecayLengthPenalty, LeavesABannedEndBanned) {
  const TokenIds tokens{3, 3};
  EXPECT_THAT(processed(decay({.start = 0, .factor = 2.0f}, {0}), {.tokens = tokens}, {kBanned}), ElementsAre(kBanned));
}

TEST(ExponentialDecayLengthPenalty, NeverMakesAScoreInfinite) {
  constexpr float kMax = std::numeric_limits<float>::max();
  const TokenIds tokens(1000, 3);
  EXPECT_THAT(processed(decay({.start = 0, .factor = 1e6f}, {0, 1, 2}), {.tokens = tokens}, {-8, 0, kMax}),
              ElementsAre(kMax, 0, kMax));
}

TEST(SuppressTokens, BansThemAlways) {
  EXPECT_THAT(processed({.suppress_tokens = TokenIds{0, 3}}, {1}), ElementsAre(kBanned, 1.5f, 2.5f, kBanned));
  EXPECT_THAT(processed({.suppress_tokens = TokenIds{0, 3}}, {1, 0, 3}), ElementsAre(kBanned, 1.5f, 2.5f, kBanned));
}

TEST(SuppressTokens, IgnoresTokensOutsideTheVocabulary) {
  EXPECT_THAT(processed({.suppress_tokens = TokenIds{4, -1}}, {1}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
}

TEST(BeginSuppressTokens, BansThemAsTheFirstToken) {
  EXPECT_THAT(processed({.begin_suppress_tokens = TokenIds{1}}, {0}), ElementsAre(0.5f, kBanned, 2.5f, 3.5f));
  EXPECT_THAT(processed({.begin_suppress_tokens = TokenIds{1}}, {0, 0}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
}

TEST(BeginSuppressTokens, BansThemAfterAForcedToken) {
  const GenerateOptions settings{.begin_suppress_tokens = TokenIds{1}, .forced_bos_token = 1};
  EXPECT_THAT(processed(settings, {0}), ElementsAre(kBanned, 0, kBanned, kBanned)) << "the forced one may be any";
  EXPECT_THAT(processed(settings, {0, 0}), ElementsAre(0.5f, kBanned, 2.5f, 3.5f));
  EXPECT_THAT(processed(settings, {0, 0, 0}), ElementsAre(0.5f, 1.5f, 2.5f, 3.5f));
}

TEST(BeginSuppressTokens, AfterAPrefixNothingIsForced) {
  const TokenIds tokens{0, 0};
  EXPECT_THAT(processed({.begin_suppress_tokens = TokenIds{1}, .forced_bos_token = 0},
                        {.tokens = tokens, .prompt_length = 2}, {1, 2}),
              ElementsAre(1, kBanned));
}

}  // namespace
}  // namespace encdec
