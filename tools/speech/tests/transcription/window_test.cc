#include "encdec/speech/transcription/window.h"

#include <gtest/gtest.h>

#include <vector>

#include "tools/speech/tests/transcription/tiny_en.h"

namespace encdec {
namespace {

using namespace tiny_en;

// Cuts a window that begins at 12 s and has 20 s of sound.
CutWindow cut(TokenIds ids) {
  return cut_window({.tokens = std::move(ids), .temperature = 0.2}, {.first = 1200, .frames = 2000}, tokens());
}

std::vector<std::pair<double, double>> times_of(const CutWindow& cut) {
  std::vector<std::pair<double, double>> times;
  for (const TranscriptSegment& segment : cut.segments) times.emplace_back(segment.start, segment.end);
  return times;
}
using Times = std::vector<std::pair<double, double>>;

TEST(Window, TheNextWindowBeginsAtTheEndOfTheLastFinishedSegment) {
  const CutWindow window = cut({kTimes, kText, kTimes + 100, kTimes + 100, kText, kTimes + 250, kTimes + 300, kText});
  EXPECT_EQ(times_of(window), (Times{{12, 14}, {14, 17}}));
  EXPECT_EQ(window.advance, 500u) << "to where the second piece ends";
  EXPECT_FALSE(window.ends_in_time);
  EXPECT_EQ(window.segments[1].tokens, (TokenIds{kTimes + 100, kText, kTimes + 250}));
  EXPECT_EQ(window.segments[1].seek, 1200u);
  EXPECT_EQ(window.segments[1].temperature, 0.2);
}

TEST(Window, ASingleTimeAtTheEndMeansThatNoSpeechFollows) {
  const CutWindow window = cut({kTimes, kText, kTimes + 100, kTimes + 150, kText, kTimes + 250});
  EXPECT_EQ(times_of(window), (Times{{12, 14}, {15, 17}}));
  EXPECT_EQ(window.advance, 2000u);
  EXPECT_TRUE(window.ends_in_time);
}

TEST(Window, WithoutPairsItIsOneSegment) {
  EXPECT_EQ(times_of(cut({kTimes + 10, kText, kTimes + 100})), (Times{{12, 14}}));
  EXPECT_EQ(times_of(cut({kTimes, kText})), (Times{{12, 32}})) << "0.00 s is no end";
  EXPECT_EQ(times_of(cut({kText})), (Times{{12, 32}})) << "without times";
  EXPECT_EQ(times_of(cut({})), (Times{{12, 32}}));
  EXPECT_EQ(cut({kText}).advance, 2000u);
}

TEST(Window, AlwaysAdvances) {
  EXPECT_GT(cut({kTimes, kTimes}).advance, 0u);
}

TEST(Window, ThresholdsDecideOnSilenceAndOnFallback) {
  const TranscribeOptions options;
  const DecodedWindow good{.avg_logprob = -0.5, .no_speech_prob = 0.9, .compression_ratio = 1.5};
  EXPECT_FALSE(good.is_silence(options)) << "the text is probable";
  EXPECT_FALSE(good.needs_fallback(options));
  DecodedWindow silent = good;
  silent.avg_logprob = -1.5;
  EXPECT_TRUE(silent.is_silence(options));
  EXPECT_FALSE(silent.needs_fallback(options)) << "nothing to find";
  DecodedWindow improbable = silent;
  improbable.no_speech_prob = 0.1;
  EXPECT_FALSE(improbable.is_silence(options));
  EXPECT_TRUE(improbable.needs_fallback(options));
  DecodedWindow repetitive = good;
  repetitive.compression_ratio = 3;
  EXPECT_TRUE(repetitive.needs_fallback(options));

  TranscribeOptions none;
  none.compression_ratio_threshold = none.logprob_threshold = none.no_speech_threshold = std::nullopt;
  for (const DecodedWindow& window : {silent, improbable, repetitive}) {
    EXPECT_FALSE(window.is_silence(none));
    EXPECT_FALSE(window.needs_fallback(none));
  }
}

}  // namespace
}  // namespace encdec
