#include "encdec/speech/audio/resampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

#include "tools/speech/tests/golden_speech.h"

namespace encdec {
namespace {

std::vector<float> tone(double hertz, int rate, double seconds) {
  std::vector<float> samples(static_cast<std::size_t>(rate * seconds));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<float>(std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / rate));
  }
  return samples;
}

std::vector<float> resampled(const std::vector<float>& input, int from, int to, std::size_t chunk) {
  Resampler resampler(from, to);
  std::vector<float> output;
  for (std::size_t i = 0; i < input.size(); i += chunk) {
    resampler.push(std::span(input).subspan(i, std::min(chunk, input.size() - i)), output);
  }
  resampler.finish(output);
  return output;
}

// Returns the largest difference in the middle half, because silence affects the samples at the
// ends.
float difference(const std::vector<float>& found, const std::vector<float>& expected) {
  float largest = 0;
  const std::size_t size = std::min(found.size(), expected.size());
  for (std::size_t i = size / 4; i < size * 3 / 4; ++i) largest = std::max(largest, std::abs(found[i] - expected[i]));
  return largest;
}

TEST(Resampler, MatchesFfmpeg) {
  for (const auto& golden : golden_speech("resampling")) {
    const int rate = golden.at("rate");
    const auto input = golden_noise(static_cast<std::uint64_t>(rate), static_cast<std::size_t>(rate / 50));
    const auto found = resampled(input, rate, 16'000, 100);
    const auto expected = golden.at("output").get<std::vector<float>>();
    ASSERT_EQ(found.size(), expected.size()) << rate;
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 2e-5) << rate << " " << i;
  }
}

TEST(Resampler, KeepsFrequenciesBelowTheLimit) {
  for (const int rate :
       {8'000, 11'025, 22'050, 44'100, 48'000, 96'000, 192'000, 44'099, 15'999, 2'000, 768'000, 767'999}) {
    for (const double part : {0.1, 0.5, 0.75}) {
      const double hertz = part * std::min(rate, 16'000) / 2;
      const auto found = resampled(tone(hertz, rate, 0.5), rate, 16'000, 10'000);
      EXPECT_LT(difference(found, tone(hertz, 16'000, 0.5)), 2e-4) << rate << " " << hertz;
    }
  }
}

TEST(Resampler, SizesOfPiecesDoNotMatter) {
  for (const int rate : {8'000, 44'100, 44'099, 16'000, 100'000}) {
    const auto input = tone(440, rate, 0.3);
    const auto whole = resampled(input, rate, 16'000, input.size());
    EXPECT_EQ(whole.size(),
              (input.size() * 16'000 + static_cast<std::size_t>(rate) - 1) / static_cast<std::size_t>(rate));
    for (const std::size_t chunk : {1u, 7u, 1'000u}) EXPECT_EQ(resampled(input, rate, 16'000, chunk), whole) << rate;
  }
  for (const std::size_t inputs : {0u, 1u, 2u, 15u, 16u, 17u, 60u}) {
    EXPECT_EQ(resampled(std::vector<float>(inputs, 1), 48'000, 16'000, 1).size(), (inputs + 2) / 3);
  }
}

}  // namespace
}  // namespace encdec
