#include "encdec/speech/features/log_mel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/safetensors.h"
#include "tools/speech/tests/golden_speech.h"

namespace encdec {
namespace {

std::span<const float> values_of(const Tensor& tensor) {
  return {tensor.data<float>(), static_cast<std::size_t>(tensor.elements())};
}

// Returns the features, one frame for each 160 samples.
std::vector<float> features_of(int bands, std::span<const float> samples, std::size_t chunk) {
  LogMel log_mel(bands);
  std::vector<float> features;
  for (std::size_t i = 0; i < samples.size(); i += chunk) {
    log_mel.push(samples.subspan(i, std::min(chunk, samples.size() - i)), features);
  }
  log_mel.finish(features);
  EXPECT_EQ(features.size(), samples.size() / LogMel::kHop * static_cast<std::size_t>(bands));
  return features;
}

TEST(LogMel, EqualsTransformers) {
  const auto golden = read_safetensors(kGoldenSpeech / "log_mel.safetensors");
  for (const int bands : {80, 128}) {
    const std::string name = "bands_" + std::to_string(bands);
    const Tensor& samples = *golden->find(name + "/input/samples");
    std::vector<float> features = features_of(bands, values_of(samples), 1'000'000);
    const Tensor &log_mel = *golden->find(name + "/output/log_mel"), &normal = *golden->find(name + "/output/features");
    ASSERT_EQ(static_cast<Dim>(features.size()), log_mel.elements());
    for (std::size_t i = 0; i < features.size(); ++i) EXPECT_NEAR(features[i], values_of(log_mel)[i], 1e-5) << i;
    LogMel::normalize(features, std::ranges::max(features));
    for (std::size_t i = 0; i < features.size(); ++i) EXPECT_NEAR(features[i], values_of(normal)[i], 1e-4) << i;
  }
}

TEST(LogMel, SizesOfPiecesDoNotMatter) {
  const auto golden = read_safetensors(kGoldenSpeech / "log_mel.safetensors");
  const Tensor& samples = *golden->find("bands_80/input/samples");
  const auto whole = features_of(80, values_of(samples), 1'000'000);
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{160}, std::size_t{201}, std::size_t{999}}) {
    EXPECT_EQ(features_of(80, values_of(samples), chunk), whole) << chunk;
  }
  for (const std::size_t size : {0u, 1u, 159u, 160u, 200u, 201u, 399u, 400u}) {
    features_of(80, values_of(samples).first(size), 1'000);
  }
}

}  // namespace
}  // namespace encdec
