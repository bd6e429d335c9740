#include "encdec/speech/transcription/speech_only.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tools/speech/tests/features/random_voice_activity.h"

namespace encdec {
namespace {

// Returns a recording with the samples 0, 1, 2, ...
Recording counting(std::size_t samples) {
  std::vector<float> values(samples);
  std::iota(values.begin(), values.end(), 0.0F);
  return Recording::of_samples(std::move(values), "counting");
}

std::vector<float> read_all(const Recording& recording, std::size_t chunk) {
  const Recording::Read read = recording.open();
  std::vector<float> samples, next(chunk);
  for (std::size_t count = chunk; count == chunk;) {
    count = read(next);
    samples.insert(samples.end(), next.begin(), next.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return samples;
}

std::vector<float> numbers(const std::vector<SpeechSpan>& spans) {
  std::vector<float> values;
  for (const SpeechSpan& span : spans) {
    for (std::uint64_t i = span.start; i < span.end; ++i) values.push_back(static_cast<float>(i));
  }
  return values;
}

std::vector<SpeechSpan> spans_of(const Recording& recording, const std::shared_ptr<const VoiceActivity>& model,
                                 const VoiceActivityOptions& options) {
  SpeechFinder finder(recording, model, options);
  while (!finder.read()) {
  }
  return finder.spans();
}

TEST(SpeechOnly, SpansAreJoined) {
  const std::vector<SpeechSpan> spans = {{0, 3}, {10, 10}, {12, 13}, {13, 700}, {40'000, 60'000}, {60'001, 100'000}};
  const Recording speech = speech_of(counting(100'000), spans);
  EXPECT_EQ(speech.name, "counting");
  EXPECT_EQ(speech.seconds, (3 + 688 + 20'000 + 39'999) / 16'000.0);
  for (const std::size_t chunk : std::vector<std::size_t>{1, 2, 687, 480'000, 20'691}) {
    EXPECT_EQ(read_all(speech, chunk), numbers(spans)) << chunk;  // opens the recording again
  }
  // Spans may extend beyond the end of the recording.
  EXPECT_EQ(read_all(speech_of(counting(100), {{10, 20}, {90, 200}, {300, 400}}), 7), numbers({{10, 20}, {90, 100}}));
  EXPECT_EQ(read_all(speech_of(counting(0), {{0, 5}}), 7), std::vector<float>{});
}

TEST(SpeechOnly, OneReaderDoesNotDisturbAnother) {
  const Recording speech = speech_of(counting(100), {{10, 20}, {30, 40}});
  const Recording::Read one = speech.open();
  std::vector<float> samples(15);
  one(samples);
  EXPECT_EQ(read_all(speech, 4), numbers({{10, 20}, {30, 40}}));
  EXPECT_EQ(one(samples), 5U);
  EXPECT_EQ(samples[0], 35);
}

TEST(SpeechOnly, SpeechIsFoundInTheWholeRecording) {
  const auto model = std::make_shared<const VoiceActivity>(weights_of(random_voice_activity()));
  const VoiceActivityOptions options = {.threshold = 0.4, .min_silence_duration_ms = 100, .speech_pad_ms = 30};
  for (const std::size_t count : std::vector<std::size_t>{0, 1, 16'384, 40'000}) {  // 16,384 samples are read at a time
    const std::vector<float> samples = voice_activity_samples(count);
    std::vector<float> probabilities;
    const auto detector = make_speech_detector(model);
    detector->push(samples, probabilities);
    detector->finish(probabilities);
    const auto spans = speech_spans(probabilities, count, options);
    EXPECT_EQ(spans_of(Recording::of_samples(samples), model, options), spans) << count;
    EXPECT_EQ(spans.size() > 1, count > 1) << spans.size();
  }
}

}  // namespace
}  // namespace encdec
