#include "encdec/speech/transcript/word_times.h"

#include <gtest/gtest.h>

#include <map>

#include "encdec/speech/transcript/hallucination.h"
#include "encdec/speech/transcript/speech_time_map.h"
#include "encdec/speech/transcript/word_alignment.h"
#include "tools/speech/tests/golden_speech.h"

namespace encdec {
namespace {

// Decodes pairs of hexadecimal digits.
std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

TEST(WordTokens, MatchOpenai) {
  for (const auto& golden : golden_speech("word_tokens")) {
    std::map<std::int32_t, std::string> bytes;
    for (const auto& [token, hex] : golden.at("bytes").items()) bytes[std::stoi(token)] = from_hex(hex);
    const auto decode = [&](std::span<const std::int32_t> tokens) {
      std::string text;
      for (const std::int32_t token : tokens) text += bytes.at(token);
      return text;
    };
    const auto tokens = golden.at("tokens").get<std::vector<std::int32_t>>();
    const auto words = split_to_word_tokens(tokens, golden.at("language").get<std::string>(), golden.at("eot"), decode);
    nlohmann::json found = nlohmann::json::array();
    for (const WordTokens& word : words) found.push_back({{"text", word.text}, {"tokens", word.tokens}});
    EXPECT_EQ(found, golden.at("words"));
  }
}

// A decoder may skip special tokens.
TEST(WordTokens, EndOfTextIsAWordWhateverItDecodesTo) {
  const std::vector<std::int32_t> tokens = {1, 2, 9};
  for (const char* end : {"", "x", "<|endoftext|>"}) {
    const auto decode = [&](std::span<const std::int32_t> ids) {
      std::string text;
      for (const std::int32_t id : ids) text += id == 1 ? " a" : id == 2 ? "b" : end;
      return text;
    };
    const auto words = split_to_word_tokens(tokens, "en", 9, decode);
    ASSERT_EQ(words.size(), 2u) << end;
    EXPECT_EQ(words[0].text, " ab");
    EXPECT_EQ(words[1].tokens, std::vector<std::int32_t>{9});
  }
}

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

// In very short recordings, a first word may have negative times. openai's writers fail for them.
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

TEST(WordTimes, ABlankSeparatesAMarkFromItsWord) {
  std::vector<WordTiming> words = {{" a ", {1}, 0, 0, 0}, {".", {2}, 0, 0, 0}};
  merge_punctuations(words, kPrependPunctuations, kAppendPunctuations);
  EXPECT_EQ(words[0].text, " a ");
  EXPECT_EQ(words[1].text, ".");
}

TEST(WordTimes, SegmentsWithoutWordsAreSkipped) {
  std::vector<TranscriptSegment> segments = {{.end = 3}, {.end = 5}};
  EXPECT_EQ(speech_end({}), std::nullopt);
  EXPECT_EQ(speech_end(segments), 5);
  EXPECT_EQ(next_words_segment(segments), nullptr);
  segments[1].words = {{" a", 1, 2, 1}, {" b", 2, 2.5, 1}};
  segments.resize(3);
  EXPECT_EQ(speech_end(segments), 2.5);
  EXPECT_EQ(next_words_segment(segments), &segments[1]);
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

// Expected lengths come from Python's zlib.compress with zlib 1.2.13.
TEST(CompressionRatio, MatchesPython) {
  EXPECT_EQ(compression_ratio(""), 0.0);
  EXPECT_EQ(compression_ratio("a"), 1.0 / 9);
  EXPECT_EQ(compression_ratio("Hello, world!"), 13.0 / 21);
  EXPECT_EQ(
      compression_ratio(" And so, my fellow Americans, ask not what your country can do for you, ask what you can "
                        "do for your country."),
      109.0 / 80);
  std::string text;
  for (int i = 0; i < 500; ++i) text += static_cast<char>(33 + i * i * 7 % 90);
  EXPECT_EQ(compression_ratio(text), 500.0 / 99);
  text.clear();
  for (int i = 0; i < 3000; ++i) text += "line " + std::to_string(i) + " of many\n";
  EXPECT_EQ(compression_ratio(text), 52890.0 / 7356);
}

using Edge = SpeechTimeMap::Edge;

SpeechTimeMap map_from(const nlohmann::json& golden) {
  std::vector<SpeechSpan> spans;
  for (const auto& span : golden.at("spans")) spans.push_back({span[0], span[1]});
  return SpeechTimeMap(spans);
}

// Reads [start, end, [[start, end] of a word, ...]].
TranscriptSegment segment_of(const nlohmann::json& times) {
  TranscriptSegment segment{.start = times[0], .end = times[1]};
  for (const auto& word : times[2]) segment.words.push_back({.start = word[0], .end = word[1]});
  return segment;
}

TEST(SpeechTimeMap, TimesMatchFasterWhisper) {
  for (const auto& golden : golden_speech("speech_times")) {
    const SpeechTimeMap map = map_from(golden);
    for (std::size_t i = 0; i < golden.at("times").size(); ++i) {
      const double time = golden.at("times")[i];
      EXPECT_EQ(map.span_at(time), golden.at("spans_of_starts")[i]) << time;
      EXPECT_EQ(map.span_at(time, Edge::end), golden.at("spans_of_ends")[i]) << time;
      EXPECT_EQ(map.original(time), golden.at("starts")[i].get<double>()) << time;
      EXPECT_EQ(map.original(time, Edge::end), golden.at("ends")[i].get<double>()) << time;
    }
  }
}

TEST(SpeechTimeMap, SegmentsMatchFasterWhisper) {
  for (const auto& golden : golden_speech("speech_times")) {
    for (std::size_t i = 0; i < golden.at("segments").size(); ++i) {
      TranscriptSegment segment = segment_of(golden.at("segments")[i]);
      map_from(golden).restore(segment);
      const TranscriptSegment expected = segment_of(golden.at("restored")[i]);
      EXPECT_EQ(segment.start, expected.start);
      EXPECT_EQ(segment.end, expected.end);
      for (std::size_t j = 0; j < expected.words.size(); ++j) {
        EXPECT_EQ(segment.words[j].start, expected.words[j].start);
        EXPECT_EQ(segment.words[j].end, expected.words[j].end);
      }
    }
  }
}

TEST(SpeechTimeMap, RoundsAsPythonDoes) {
  const SpeechTimeMap map({});
  EXPECT_EQ(map.original(2.675), 2.67);  // 2.67499999999999982236431605997495353221893310546875
  EXPECT_EQ(map.original(0.125), 0.12);
  EXPECT_EQ(map.original(0.375), 0.38);
  EXPECT_EQ(map.original(8.035), 8.04);  // 8.0350000000000001421085471520200371742248535156250
  EXPECT_EQ(map.original(1e15), 1e15);
  EXPECT_EQ(map.original(3.14159, Edge::end), 3.14);
}

}  // namespace
}  // namespace encdec
