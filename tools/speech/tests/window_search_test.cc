#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>
#include <vector>

#include "tools/speech/tests/scripted_whisper.h"

namespace encdec {
namespace {

using namespace scripted_whisper;

// Options for windows that are not cut by times, with one attempt.
TranscribeOptions plain(int beam_size) {
  return {.language = "en", .temperatures = {0}, .beam_size = beam_size, .suppress_tokens = {}, .timestamps = false};
}

std::vector<DecodedWindow> decode_all(const TranscribeOptions& options, const Script& script,
                                      const std::vector<std::uint64_t>& places, const Script* guesses = nullptr) {
  const Whisper whisper;
  const TranscriptionTask task = whisper.task(options);
  std::vector<std::shared_ptr<DecodedWindow>> results;
  std::vector<DecodeJob> jobs;
  for (const std::uint64_t first : places) {
    results.push_back(std::make_shared<DecodedWindow>());
    Tensor frames = Tensor::allocate({40, 16});
    std::fill_n(frames.data<float>(), frames.elements(), 0.0F);
    jobs.push_back(task.window(std::move(frames), {.first = first, .frames = 40}, kEnglish, {}, results.back()));
  }
  whisper.run(jobs, script, guesses);
  std::vector<DecodedWindow> windows;
  for (const auto& result : results) windows.push_back(*result);
  return windows;
}

DecodedWindow decode(const TranscribeOptions& options, const Script& script) {
  return decode_all(options, script, {0}).front();
}

// The likeliest first token, 1, leads to a less likely text than token 2.
const Script kMisleading = {{kStart, {{kNoSpeech, 0.25}, {1, 0.75}}},
                            {kNoTimestamps, {{1, 0.6}, {2, 0.4}}},
                            {1, {{11, 0.4}, {12, 0.3}, {13, 0.3}}},
                            {2, {{21, 1}}},
                            {11, {{kEnd, 1}}},
                            {12, {{kEnd, 1}}},
                            {13, {{kEnd, 1}}},
                            {21, {{kEnd, 1}}}};

TEST(WindowSearch, GreedySearchTakesTheLikeliestToken) {
  const DecodedWindow window = decode(plain(1), kMisleading);
  EXPECT_EQ(window.tokens, (TokenIds{1, 11}));
  EXPECT_TRUE(window.has_ended);
  EXPECT_EQ(window.temperature, 0);
  EXPECT_NEAR(window.avg_logprob, std::log(0.6 * 0.4) / 3, 1e-5) << "the end token counts";
  EXPECT_NEAR(window.no_speech_prob, 0.25, 1e-5) << "read after the start token";
}

TEST(WindowSearch, GuessesChangeNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Script later = kMisleading, wrong = kMisleading, endless = kMisleading;
  later[11] = {{12, 1}};                  // the end is guessed one token late
  wrong[kNoTimestamps] = {{1, 0.7}};      // a right guess
  wrong[1] = {{2, 1}};                    // and a wrong one
  endless[11] = endless[1] = {{1, nan}};  // guesses nothing that makes sense
  endless[12] = endless[13] = {{13, 0.9}};
  Script breaks = kMisleading;
  breaks[2] = {{1, nan}};  // the model computes NaN after a wrong guess
  for (const Script* guesses : std::initializer_list<const Script*>{&kMisleading, &later, &wrong, &endless}) {
    for (const bool timestamps : {false, true}) {
      TranscribeOptions options = plain(1);
      options.timestamps = timestamps;
      const DecodedWindow expected = decode(options, kMisleading),
                          window = decode_all(options, breaks, {0}, guesses).front();
      EXPECT_EQ(window.tokens, expected.tokens);
      EXPECT_EQ(window.has_ended, expected.has_ended);
      EXPECT_EQ(window.avg_logprob, expected.avg_logprob);
      EXPECT_EQ(window.no_speech_prob, expected.no_speech_prob);
    }
  }
}

TEST(WindowSearch, BeamsFindALikelierText) {
  const DecodedWindow window = decode(plain(2), kMisleading);
  EXPECT_EQ(window.tokens, (TokenIds{2, 21}));
  EXPECT_NEAR(window.avg_logprob, std::log(0.4) / 3, 1e-5);
}

TEST(WindowSearch, ALimitEndsATextWithoutEnd) {
  const Script endless = {{kStart, {{1, 1}}}, {kNoTimestamps, {{1, 0.6}, {2, 0.4}}}, {1, {{1, 1}}}, {2, {{2, 1}}}};
  constexpr std::size_t kLimit = 12;  // half of the 24 positions
  for (const int beams : {1, 3}) {
    const DecodedWindow window = decode(plain(beams), endless);
    EXPECT_EQ(window.tokens, TokenIds(kLimit, 1)) << beams;
    EXPECT_FALSE(window.has_ended);
  }
}

TEST(WindowSearch, AttemptsGoOnUntilATextPassesTheThresholds) {
  TranscribeOptions options = plain(1);
  options.temperatures = {0, 0.2, 0.4, 1};
  options.compression_ratio_threshold = std::nullopt;
  options.logprob_threshold = std::log(0.3);
  Script script = kMisleading;
  EXPECT_EQ(decode(options, script).temperature, 0) << "the mean of log(0.6), log(0.4) and 0 is above log(0.3)";
  script[1] = {{11, 0.02}};  // the other tokens have less
  script[2] = {{21, 0.02}};
  for (std::int32_t token = 100; token < 200; ++token) script[1][token] = script[2][token] = 0.0098;
  for (std::int32_t token = 100; token < 200; ++token) script[token] = {{kEnd, 0.5}, {1, 0.5}};
  options.logprob_threshold = -0.5;
  EXPECT_EQ(decode(options, script).temperature, 1) << "no attempt passes; the last one is kept";
  options.no_speech_threshold = 0.2;
  EXPECT_EQ(decode(options, script).temperature, 0) << "there is nothing to find in silence";
}

TEST(WindowSearch, SamplesDependOnNoOtherWindowAndTheLikeliestIsKept) {
  TranscribeOptions options = plain(1);
  options.temperatures = {1};
  options.best_of = 4;
  options.compression_ratio_threshold = options.logprob_threshold = std::nullopt;
  const std::vector<DecodedWindow> together = decode_all(options, kMisleading, {0, 40, 80, 120, 160, 200});
  for (std::size_t i = 0; i < together.size(); ++i) {
    const DecodedWindow alone = decode_all(options, kMisleading, {40 * i}).front();
    EXPECT_EQ(together[i].tokens, alone.tokens);
    EXPECT_EQ(together[i].avg_logprob, alone.avg_logprob);
  }
  const auto mean = [&](int best_of) {
    options.best_of = best_of;
    double sum = 0;
    for (const DecodedWindow& window : decode_all(options, kMisleading, {0, 40, 80, 120, 160, 200, 240, 280})) {
      sum += window.avg_logprob;
    }
    return sum / 8;
  };
  EXPECT_NEAR(mean(30), std::log(0.4) / 3, 1e-5) << "of many samples one is the best";
  EXPECT_LT(mean(1), std::log(0.4) / 3);
}

TEST(WindowSearch, PatienceIsTheNumberOfFinishedBeams) {
  const Script script = {{kStart, {{1, 1}}},
                         {kNoTimestamps, {{1, 0.6}, {2, 0.4}}},
                         {1, {{kEnd, 0.55}, {11, 0.45}}},
                         {2, {{21, 0.95}, {kEnd, 0.05}}},
                         {11, {{kEnd, 1}}},
                         {21, {{kEnd, 1}}}};
  TranscribeOptions options = plain(2);
  options.patience = 0.5;
  EXPECT_FALSE(decode(options, script).has_ended)
      << "one finished beam ends the search; the best running one is better";
  options.patience = 1;
  const DecodedWindow window = decode(options, script);
  EXPECT_EQ(window.tokens, (TokenIds{2, 21}));
  EXPECT_TRUE(window.has_ended);
}

TEST(WindowSearch, ThePenaltyComparesTextsOfDifferentLengths) {
  // Means are log(0.45) / 3 and log(0.55) / 1.
  const Script script = {{kStart, {{1, 1}}}, {kNoTimestamps, {{1, 0.45}, {2, 0.55}}},
                         {1, {{11, 1}}},     {11, {{12, 1}}},
                         {12, {{kEnd, 1}}},  {2, {{kEnd, 1}}}};
  TranscribeOptions options = plain(2);
  EXPECT_EQ(decode(options, script).tokens, (TokenIds{1, 11, 12}));
  options.length_penalty = 0;
  EXPECT_EQ(decode(options, script).tokens, TokenIds{2});
}

TEST(WindowSearch, TimesComeInPairs) {
  TranscribeOptions options = plain(1);
  options.timestamps = true;
  const Script script = {{kStart, {{1, 1}}},
                         {kTranscribe, {{1, 0.9}, {kTimes + 3, 0.1}}},  // a text must not come first
                         {kTimes + 3, {{5, 1}}},
                         {5, {{kTimes + 2, 0.9}, {kTimes + 9, 0.1}}},  // times do not decrease
                         {kTimes + 9, {{6, 0.6}, {kTimes + 9, 0.3}, {kEnd, 0.1}}},
                         {6, {{kEnd, 1}}}};
  EXPECT_EQ(decode(options, script).tokens, (TokenIds{kTimes + 3, 5, kTimes + 9, kTimes + 9, 6}));
}

}  // namespace
}  // namespace encdec
