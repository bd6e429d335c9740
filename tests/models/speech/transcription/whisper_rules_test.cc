#include "encdec/models/speech/transcription/whisper_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "encdec/engine/base/error.h"
#include "tests/models/speech/transcription/tiny_en.h"

namespace encdec {
namespace {

const WhisperRules& openai = openai_rules();
const WhisperRules& transformers = transformers_rules();

WindowSequence sequence(std::size_t tokens, float sum, bool has_ended) {
  return {.tokens = TokenIds(tokens, 7), .sum = sum, .score = 2 * sum, .has_ended = has_ended};
}

TEST(WhisperRules, AreFoundByName) {
  EXPECT_EQ(&WhisperRules::of(SpeechRules::openai), &openai);
  EXPECT_EQ(&WhisperRules::of(SpeechRules::transformers), &transformers);
}

TEST(WhisperRules, OpenAiKeepsHalfOfTheContextForThePrompt) {
  EXPECT_EQ(openai.max_prompt_text(448), 223u);
  EXPECT_EQ(openai.max_new_tokens(448, 4), 224u);
  EXPECT_EQ(openai.max_new_tokens(448, 440), 9u) << "the last token is not read";
  EXPECT_EQ(openai.max_new_tokens(448, 500), 2u);
  EXPECT_EQ(transformers.max_prompt_text(448), 442u);
  EXPECT_EQ(transformers.max_new_tokens(448, 4), 444u);
  EXPECT_EQ(transformers.max_new_tokens(448, 500), 1u);
}

TEST(WhisperRules, PreviousTextMayBeginWithTheInitialPrompt) {
  const PromptText text{.tokens = {1, 2, 10, 11, 12}, .initial = 2};
  TranscribeOptions options;
  EXPECT_EQ(openai.previous_text(text, 4, options), (TokenIds{2, 10, 11, 12})) << "the prompt is text like any other";
  EXPECT_EQ(transformers.previous_text(text, 4, options), (TokenIds{2, 10, 11, 12}));
  options.carry_initial_prompt = true;
  EXPECT_EQ(openai.previous_text(text, 4, options), (TokenIds{1, 2, 11, 12})) << "the prompt takes its share";
  EXPECT_EQ(openai.previous_text(text, 2, options), (TokenIds{1, 2, 10, 11, 12})) << "no share is left: all text";
  EXPECT_EQ(transformers.previous_text(text, 2, options), (TokenIds{1, 2, 11, 12})) << "the prompt comes on top";

  options.carry_initial_prompt = false;
  const PromptText none{.tokens = {1, 2, 10}, .initial = 2, .begin = 3};
  EXPECT_EQ(openai.previous_text(none, 4, options), TokenIds());
  EXPECT_EQ(transformers.previous_text(none, 4, options), (TokenIds{1, 2})) << "the prompt again";
}

TEST(WhisperRules, OnlyTransformersLeavesOutTheInitialPromptFromTheStart) {
  TranscribeOptions options{.condition_on_previous_text = false};
  PromptText text{.tokens = {1, 2}, .initial = 2};
  openai.start(text, options);
  EXPECT_EQ(text.begin, 0u);
  transformers.start(text, options);
  EXPECT_EQ(text.begin, 2u);
}

TEST(WhisperRules, ASilentWindowChangesOnlyTransformersPrompts) {
  const TranscribeOptions options;
  const DecodedWindow silent{.temperature = 1, .avg_logprob = -2, .no_speech_prob = 0.9};
  PromptText text{.tokens = {1, 2}};
  openai.update(text, silent, options);
  EXPECT_EQ(text.begin, 0u);
  transformers.update(text, silent, options);
  EXPECT_EQ(text.begin, 2u);
}

TEST(WhisperRules, OpenAiFinishesAPoolOfBeams) {
  std::vector<WindowSequence> finished(3);
  for (const auto& [patience, pool] : {std::pair{1.0, 3u}, {0.5, 2u}, {0.1, 1u}, {2.0, 6u}}) {
    const TranscribeOptions options{.beam_size = 3, .patience = patience};
    EXPECT_EQ(openai.is_over(finished, {}, options), 3 >= pool) << patience;
    EXPECT_TRUE(openai.keeps(99, pool - 1, options));
    EXPECT_FALSE(openai.keeps(0, pool, options));
  }
  EXPECT_EQ(openai.candidates(5), 6u);
}

TEST(WhisperRules, TransformersKeepsTheBestBeams) {
  const TranscribeOptions options{.beam_size = 2};
  EXPECT_EQ(transformers.candidates(5), 10u);
  EXPECT_TRUE(transformers.keeps(1, 99, options));
  EXPECT_FALSE(transformers.keeps(2, 0, options));
  std::vector<WindowSequence> finished = {sequence(2, -3, true)};
  const std::vector running = {sequence(2, -1.5F, false)};
  EXPECT_FALSE(transformers.is_over(finished, running, options)) << "too few";
  finished.push_back(sequence(2, -6, true));
  finished.push_back(sequence(2, -3.3F, true));
  EXPECT_FALSE(transformers.is_over(finished, running, options)) << "-3 / 2 is better than -6.6 / 3";
  ASSERT_EQ(finished.size(), 2u);
  EXPECT_EQ(finished[1].sum, -3.3F) << "the worst was dropped";
  EXPECT_TRUE(transformers.is_over(finished, {}, options));
  EXPECT_TRUE(transformers.is_over(finished, std::vector{sequence(2, -2.3F, false)}, options));
}

TEST(WhisperRules, ScoresAreComparableBetweenLengths) {
  TranscribeOptions options;
  EXPECT_DOUBLE_EQ(openai.final_score(sequence(4, -2, true), options), -2.0 / 4);
  EXPECT_DOUBLE_EQ(transformers.final_score(sequence(4, -2, true), options), -4.0 / 5) << "the end counts";
  EXPECT_DOUBLE_EQ(transformers.final_score(sequence(4, -2, false), options), -4.0 / 4);
  options.length_penalty = 0.5;
  EXPECT_DOUBLE_EQ(openai.final_score(sequence(4, -2, true), options), -2.0 / std::sqrt(1.5));
  EXPECT_DOUBLE_EQ(transformers.final_score(sequence(3, -2, true), options), -4.0 / 2);
  EXPECT_EQ(openai.counted_tokens(sequence(4, -2, false)), 5u);
  EXPECT_EQ(transformers.counted_tokens(sequence(4, -2, false)), 4u);
}

TEST(WhisperRules, OpenAiEmptiesSegmentsWithoutTextOrDuration) {
  using namespace tiny_en;
  const auto close = [](const WhisperRules& rules, TranscriptSegment segment) {
    const std::size_t kept = rules.close(segment, tokens());
    return std::pair(segment.tokens.size(), kept);
  };
  const TokenIds said = {kTimes, kText, kTimes + 10, kTimes + 10};
  const TranscriptSegment good{.start = 1, .end = 2, .text = " a", .tokens = said};
  TranscriptSegment blank = good, instant = good;
  blank.text = "  ";
  instant.end = 1;
  EXPECT_EQ(close(openai, good), std::pair(std::size_t{4}, std::size_t{4}));
  EXPECT_EQ(close(openai, blank), std::pair(std::size_t{0}, std::size_t{0}));
  EXPECT_EQ(close(openai, instant), std::pair(std::size_t{0}, std::size_t{0}));
  EXPECT_EQ(close(transformers, blank), std::pair(std::size_t{4}, std::size_t{3})) << "one of the pair is for prompts";
}

TEST(WhisperRules, OnlyOpenAiSkipsHallucinations) {
  const TranscribeOptions options{.word_timestamps = true, .hallucination_silence_threshold = 1.0};
  EXPECT_NO_THROW(openai.check(options));
  EXPECT_THROW(transformers.check(options), ConfigError);
}

}  // namespace
}  // namespace encdec
