#include "encdec/speech/transcription/mel_windows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/comparison.h"
#include "tools/speech/tests/golden_speech.h"

namespace encdec {
namespace {

std::vector<float> samples_of(double seconds) {
  return golden_noise(1, static_cast<std::size_t>(seconds * AudioReader::kSampleRate));
}

// Returns all frames, computed at once and normalized.
std::vector<float> all_frames(std::vector<float> samples) {
  const std::size_t frames = samples.size() / LogMel::kHop;
  samples.resize(samples.size() + std::size_t{30} * AudioReader::kSampleRate);
  LogMel mel(80);
  std::vector<float> features;
  mel.push(samples, features);
  mel.finish(features);
  LogMel::normalize(features, std::ranges::max(features));
  features.resize(frames * 80);
  return features;
}

MelWindows windows_of(Recording recording, const LogMel& mel) {
  MelWindows windows(std::move(recording), mel);
  while (!windows.find_largest()) {
  }
  return windows;
}

TEST(MelWindows, AreCutFromTheWholeRecording) {
  for (const double seconds : {0.0, 0.005, 0.3, 12.34, 75.5}) {  // the last recording is read twice
    const std::vector<float> expected = all_frames(samples_of(seconds));
    MelWindows windows = windows_of(Recording::of_samples(samples_of(seconds)), LogMel(80));
    ASSERT_EQ(windows.frames(), expected.size() / 80);
    EXPECT_DOUBLE_EQ(windows.seconds(), std::floor(seconds * 16000) / 16000);
    for (std::uint64_t first : {0u, 7u, 1000u, 4000u}) {
      if (first >= windows.frames()) continue;
      const std::size_t count = std::min<std::uint64_t>(3000, windows.frames() - first);
      const Tensor window = windows.window(first, count, 3000);
      ASSERT_EQ(window.shape(), (Shape{3000, 80}));
      const float* values = window.data<float>();
      EXPECT_TRUE(std::equal(values, values + count * 80, expected.begin() + static_cast<std::ptrdiff_t>(first * 80)));
      EXPECT_TRUE(std::all_of(values + count * 80, values + window.elements(), [](float x) { return x == 0; }));
    }
  }
}

TEST(MelWindows, TheBeginningIsFollowedBySilence) {
  MelWindows windows = windows_of(Recording::of_samples(samples_of(2)), LogMel(80));
  const Tensor beginning = windows.window(0, 3000, 3000), window = windows.window(0, 200, 3000);
  EXPECT_TRUE(same_bits(beginning.slice(0, 200), window.slice(0, 200)));
  const float silence = beginning.row(2999)[0];
  EXPECT_LT(silence, 0.0F);
  EXPECT_GT(silence, -1.6F) << "80 dB below the loudest, or nothing";
}

}  // namespace
}  // namespace encdec
