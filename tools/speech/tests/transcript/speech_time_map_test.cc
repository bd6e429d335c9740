#include "encdec/speech/transcript/speech_time_map.h"

#include <gtest/gtest.h>

#include "tools/speech/tests/transcript/word_golden.h"

namespace encdec {
namespace {

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
