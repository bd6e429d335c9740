#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "encdec/speech/transcription/transcription_task.h"
#include "tools/speech/tests/scripted_whisper.h"

namespace encdec {
namespace {

using namespace scripted_whisper;

// The course of a transcription.
struct Told {
  std::vector<TokenIds> prompts;  // the prompt of each job
  std::vector<TranscriptSegment> segments;
  Transcript transcript;
  std::vector<double> seconds_done;  // after each job

  // Returns the times of the segments, in hundredths of a second.
  std::vector<std::pair<int, int>> times() const {
    std::vector<std::pair<int, int>> times;
    for (const TranscriptSegment& segment : segments) {
      times.emplace_back(std::lround(segment.start * 100), std::lround(segment.end * 100));
    }
    return times;
  }
};
using Times = std::vector<std::pair<int, int>>;

Recording tone(double seconds) {
  std::vector<float> samples(static_cast<std::size_t>(std::lround(seconds * AudioReader::kSampleRate)));
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = std::sin(0.2F * static_cast<float>(i));
  return Recording::of_samples(std::move(samples));
}

// Transcribes `seconds` of a tone. `scripts` are those of its jobs; the last one serves all further jobs.
Told transcribe(const TranscribeOptions& options, double seconds, const std::vector<Script>& scripts) {
  static const Whisper whisper;
  const TranscriptionTask task = whisper.task(options);
  const auto transcriber = task.open(tone(seconds));
  Told told;
  for (;;) {
    while (!transcriber->read()) {
    }
    const auto job = transcriber->next();
    if (!job) break;
    told.prompts.push_back(job->prompt.target);
    whisper.run({*job}, scripts[std::min(told.prompts.size(), scripts.size()) - 1]);
    for (TranscriptSegment& segment : transcriber->finish({})) told.segments.push_back(std::move(segment));
    told.seconds_done.push_back(transcriber->seconds_done());
  }
  told.transcript = transcriber->transcript();
  return told;
}

TranscribeOptions plain() {
  return {.language = "en",
          .temperatures = {0},
          .beam_size = 1,
          .suppress_tokens = {},
          .compression_ratio_threshold = {},
          .logprob_threshold = {},
          .no_speech_threshold = {}};
}

// Says token `text` from 0.00 s to 0.20 s, and that more text follows there.
Script half_a_window(std::int32_t text) {
  return {{kStart, {{1, 1}}},
          {kTranscribe, {{kTimes, 1}}},
          {kTimes, {{text, 1}}},
          {text, {{kTimes + 10, 1}}},
          {kTimes + 10, {{kTimes + 10, 0.6}, {kEnd, 0.4}}}};
}
// Says token `text` from 0.00 s to 0.20 s, and nothing after it.
Script whole_window(std::int32_t text) {
  Script script = half_a_window(text);
  script[kTimes + 10] = {{kEnd, 1}};
  return script;
}
TokenIds said(std::int32_t text) {
  return {kTimes, text, kTimes + 10};
}
TokenIds prompt(const std::vector<TokenIds>& earlier) {
  TokenIds prompt;
  if (!earlier.empty()) prompt.push_back(kStartOfPrev);
  for (const TokenIds& tokens : earlier) prompt.insert(prompt.end(), tokens.begin(), tokens.end());
  prompt.insert(prompt.end(), {kStart, kEnglish, kTranscribe});
  return prompt;
}

TEST(RecordingTranscriber, TheNextWindowBeginsWhereTheTextEnds) {
  const Told told = transcribe(plain(), 0.7, {half_a_window(50), whole_window(60), whole_window(70)});
  EXPECT_EQ(told.times(), (Times{{0, 20}, {20, 40}, {60, 80}}));
  EXPECT_EQ(told.segments[1].seek, 20u);
  EXPECT_EQ(told.segments[2].id, 2u);
  EXPECT_EQ(told.seconds_done, (std::vector{0.2, 0.6, 0.7}));
  EXPECT_EQ(told.transcript.duration, 0.7);
  EXPECT_EQ(told.transcript.language, "en");
  EXPECT_EQ(told.prompts, (std::vector{prompt({}), prompt({said(50)}), prompt({said(50), said(60)})}));
}

TEST(RecordingTranscriber, ClipsAreTranscribedAlone) {
  TranscribeOptions options = plain();
  options.clip_timestamps = {0.1, 0.3, 0.5};
  const Told told = transcribe(options, 0.8, {whole_window(50)});
  EXPECT_EQ(told.times(), (Times{{10, 30}, {50, 70}}));
  EXPECT_EQ(told.seconds_done, (std::vector{0.3, 0.8}));
  options.clip_timestamps = {0.9, 2};
  EXPECT_TRUE(transcribe(options, 0.8, {}).prompts.empty()) << "after the end";
}

TEST(RecordingTranscriber, AnEmptyRecordingHasNoWindows) {
  const Told told = transcribe(plain(), 0, {});
  EXPECT_TRUE(told.prompts.empty());
  EXPECT_EQ(told.transcript.duration, 0);
}

TEST(RecordingTranscriber, TheLanguageIsDetectedFirst) {
  TranscribeOptions options = plain();
  options.language.clear();
  const Script german = {{kStart, {{kGerman, 0.6}, {kEnglish, 0.2}, {1, 0.2}}}};
  const Told told = transcribe(options, 0.3, {german, whole_window(50)});
  EXPECT_EQ(told.prompts, (std::vector<TokenIds>{{kStart}, {kStart, kGerman, kTranscribe}}));
  EXPECT_EQ(told.transcript.language, "de");
  EXPECT_NEAR(told.transcript.language_probability, 0.75, 1e-5) << "among the languages";
  EXPECT_EQ(told.segments.size(), 1u);
}

TEST(RecordingTranscriber, ASilentWindowHasNoText) {
  TranscribeOptions options = plain();
  options.no_speech_threshold = 0.5;
  Script silence = whole_window(50);
  silence[kStart] = {{kNoSpeech, 0.9}, {1, 0.1}};
  const Told told = transcribe(options, 0.8, {silence, whole_window(60)});
  EXPECT_EQ(told.times(), (Times{{40, 60}}));
  EXPECT_EQ(told.prompts[1], prompt({}));
}

// Returns the prompt after a first window that was decoded at `temperature`.
TokenIds second_prompt(TranscribeOptions options, double temperature) {
  options.temperatures = {temperature};
  options.best_of = 1;
  return transcribe(options, 0.5, {whole_window(50)}).prompts.at(1);
}

TEST(RecordingTranscriber, PreviousTextIsLeftOutAfterAHighTemperature) {
  EXPECT_EQ(second_prompt(plain(), 0.5), prompt({said(50)}));
  EXPECT_EQ(second_prompt(plain(), 0.6), prompt({}));
  TranscribeOptions without = plain();
  without.condition_on_previous_text = false;
  EXPECT_EQ(second_prompt(without, 0), prompt({}));
}

TEST(RecordingTranscriber, TextThatWasLeftOutStaysLeftOut) {
  Script improbable = whole_window(50);
  improbable[kTimes].clear();
  for (std::int32_t token = 100; token < 200; ++token) {
    improbable[kTimes][token] = 0.01;
    improbable[token] = {{kTimes + 10, 1}};
  }
  TranscribeOptions options = plain();
  options.temperatures = {0, 0.9};
  options.best_of = 1;
  options.logprob_threshold = -0.3;
  const Told told = transcribe(options, 1.1, {improbable, whole_window(60), whole_window(70)});
  EXPECT_EQ(told.segments.front().temperature, 0.9);
  EXPECT_EQ(told.prompts[1], prompt({}));
  EXPECT_EQ(told.prompts[2], prompt({said(60)}));
}

TEST(RecordingTranscriber, TheInitialPromptIsTextLikeAnyOtherUnlessItIsCarried) {
  TranscribeOptions options = plain();
  options.initial_prompt = "two";
  const std::vector<TokenIds> told = transcribe(options, 1.1, {half_a_window(50)}).prompts;
  const TokenIds two(told[0].begin() + 1, told[0].end() - 3);
  ASSERT_FALSE(two.empty());
  EXPECT_EQ(told[0], prompt({two}));
  EXPECT_EQ(told[1], prompt({two, said(50)}));
  constexpr std::ptrdiff_t kMost = 11;  // tokens of previous text: half of 24 positions less one
  TokenIds text;
  for (int i = 0; i < 4; ++i) {
    for (const std::int32_t token : said(50)) text.push_back(token);
  }
  EXPECT_EQ(told[4], prompt({{text.end() - kMost, text.end()}}));

  options.carry_initial_prompt = true;
  const std::ptrdiff_t left = kMost - std::ssize(two);
  EXPECT_EQ(transcribe(options, 1.1, {half_a_window(50)}).prompts[4], prompt({two, {text.end() - left, text.end()}}));
  EXPECT_EQ(second_prompt(options, 0.6), prompt({two})) << "other text is left out";
  options.initial_prompt = "one two three four five six seven eight nine ten";
  const TokenIds cut = second_prompt(options, 0);
  EXPECT_EQ(TokenIds(cut.end() - 6, cut.end() - 3), said(50)) << "no share is left: the prompt's front is cut off";
  EXPECT_EQ(cut.size(), std::size_t{kMost} + 4);
}

TEST(RecordingTranscriber, ASegmentOfBlanksIsEmptied) {
  const std::int32_t blank = Whisper().task(plain()).tokens().blank().front();
  const Told told = transcribe(plain(), 0.5, {whole_window(blank), whole_window(60)});
  EXPECT_EQ(told.segments.front().text, "");
  EXPECT_TRUE(told.segments.front().tokens.empty());
  EXPECT_EQ(told.prompts[1], prompt({}));
}

}  // namespace
}  // namespace encdec
