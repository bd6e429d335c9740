#include "encdec/speech/transcript/word_times.h"

#include <gtest/gtest.h>

#include "encdec/speech/transcript/hallucination.h"
#include "tools/speech/tests/transcript/word_golden.h"

namespace encdec {
namespace {

std::vector<TranscriptSegment> segments_from(const nlohmann::json& list) {
  std::vector<TranscriptSegment> segments;
  for (const auto& json : list) segments.push_back(segment_from(json));
  return segments;
}

std::vector<WordTiming> words_from(const nlohmann::json& list) {
  std::vector<WordTiming> words;
  for (const auto& json : list) {
    words.push_back({json.at("text"), json.at("tokens"), json.at("start"), json.at("end"), json.at("probability")});
  }
  return words;
}

std::vector<std::string> merged(const std::vector<std::string>& texts) {
  std::vector<WordTiming> words;
  for (const std::string& text : texts) words.push_back({text, {1}, 0, 0, 0});
  merge_punctuations(words, kPrependPunctuations, kAppendPunctuations);
  std::vector<std::string> result;
  std::size_t tokens = 0;
  for (const WordTiming& word : words) {
    tokens += word.tokens.size();
    result.push_back(word.text + ':' + std::to_string(word.tokens.size()));
  }
  EXPECT_EQ(tokens, texts.size());
  return result;
}

// Such words occur at the beginning of a recording of a few frames. The writers of openai fail there.
TEST(WordTimes, NoWordBeginsBeforeTheRecording) {
  TranscriptSegment segment{.start = 0, .end = 0.02, .text = " a", .tokens = {7}};
  add_word_timestamps(std::span(&segment, 1), {{.text = " a", .tokens = {7}, .start = -0.02, .end = -0.02}},
                      {.end_of_text = 100});
  ASSERT_EQ(segment.words.size(), 1u);
  EXPECT_EQ(segment.words[0].start, 0);
  EXPECT_GE(segment.words[0].end, 0);
}

TEST(WordTimes, SegmentsMatchOpenai) {
  for (const auto& golden : golden_speech("segments")) {
    std::vector<TranscriptSegment> segments = segments_from(golden.at("segments"));
    add_word_timestamps(segments, words_from(golden.at("words")),
                        {.end_of_text = golden.at("eot"), .last_speech = golden.at("last_speech")});
    const std::vector<TranscriptSegment> expected = segments_from(golden.at("expected"));
    ASSERT_EQ(segments.size(), expected.size());
    for (std::size_t i = 0; i < segments.size(); ++i) {
      EXPECT_EQ(segments[i].start, expected[i].start) << i << golden.at("words");
      EXPECT_EQ(segments[i].end, expected[i].end) << i << golden.at("words");
      ASSERT_EQ(segments[i].words.size(), expected[i].words.size()) << golden.at("words");
      for (std::size_t j = 0; j < expected[i].words.size(); ++j) {
        const TranscriptWord &word = segments[i].words[j], &other = expected[i].words[j];
        EXPECT_EQ(word.text, other.text);
        EXPECT_EQ(word.start, other.start) << word.text;
        EXPECT_EQ(word.end, other.end) << word.text;
        EXPECT_EQ(word.probability, other.probability);
      }
    }
  }
}

TEST(WordTimes, PunctuationIsMergedWithItsWord) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(merged({}), Texts{});
  EXPECT_EQ(merged({" (", "a", ")", "."}), (Texts{":0", " (a).:4", ":0", ":0"}));
  EXPECT_EQ(merged({" \"", " (", " a"}), (Texts{":0", ":0", " \" ( a:3"}));
  EXPECT_EQ(merged({" a ", "."}), (Texts{" a :1", ".:1"}));  // the blank separates them
  EXPECT_EQ(merged({"-", " a"}), (Texts{"-:1", " a:1"}));    // no blank before the mark
  EXPECT_EQ(merged({" a", "、", "。", " b"}), (Texts{" a、。:3", ":0", ":0", " b:1"}));
  EXPECT_EQ(merged({" ", ".", " a"}), (Texts{":0", " .:2", " a:1"}));
  EXPECT_EQ(merged({" a", "!?", " b"}), (Texts{" a:1", "!?:1", " b:1"}));  // not a listed mark
}

TEST(WordTimes, TextTokensAreBelowTheEndOfText) {
  const std::vector<TranscriptSegment> segments = {{.tokens = {60, 1, 2, 61}}, {.tokens = {}}, {.tokens = {62, 3, 50}}};
  EXPECT_EQ(text_tokens(segments, 50), (std::vector<std::int32_t>{1, 2, 3}));
}

TEST(WordTimes, SpeechEndsWithTheLastWord) {
  std::vector<TranscriptSegment> segments;
  EXPECT_EQ(speech_end(segments), std::nullopt);
  segments = {{.end = 3}, {.end = 5}};
  EXPECT_EQ(speech_end(segments), 5);
  segments[0].words = {{" a", 1, 2, 1}, {" b", 2, 2.5, 1}};
  EXPECT_EQ(speech_end(segments), 2.5);
}

TEST(Hallucination, AnomalousSegmentsMatchOpenai) {
  int odd = 0;
  for (const auto& golden : golden_speech("segments")) {
    for (const auto& expected : golden.at("expected")) {
      const TranscriptSegment segment = segment_from(expected);
      EXPECT_EQ(is_segment_anomaly(segment), expected.at("is_anomaly").get<bool>()) << expected;
      double score = 0;
      for (const TranscriptWord& word : segment.words) score += word_anomaly_score(word);
      EXPECT_EQ(score, expected.at("score").get<double>()) << expected;
      odd += is_segment_anomaly(segment);
    }
  }
  EXPECT_GT(odd, 0);
}

TEST(Hallucination, NextSegmentIsTheFirstWithWords) {
  std::vector<TranscriptSegment> segments(3);
  EXPECT_EQ(next_words_segment(segments), nullptr);
  segments[1].words.resize(1);
  segments[2].words.resize(1);
  EXPECT_EQ(next_words_segment(segments), &segments[1]);
  EXPECT_EQ(next_words_segment({}), nullptr);
}

}  // namespace
}  // namespace encdec
