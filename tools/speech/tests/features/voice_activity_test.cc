#include "encdec/speech/features/voice_activity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"
#include "tools/speech/tests/features/random_voice_activity.h"

namespace encdec {
namespace {

std::shared_ptr<const VoiceActivity> random_model() {
  static const auto model = std::make_shared<const VoiceActivity>(weights_of(random_voice_activity()));
  return model;
}

std::vector<float> probabilities_of(std::span<const float> samples, std::size_t chunk) {
  const auto detector = make_speech_detector(random_model());
  std::vector<float> probabilities;
  for (; samples.size() > chunk; samples = samples.subspan(chunk)) detector->push(samples.first(chunk), probabilities);
  detector->push(samples, probabilities);
  detector->finish(probabilities);
  return probabilities;
}

TEST(VoiceActivity, ProbabilitiesMatchTorch) {
  const auto golden = golden_speech("voice_activity")[0];
  const auto expected = golden.at("probabilities").get<std::vector<float>>();
  const std::vector<float> actual = probabilities_of(voice_activity_samples(golden.at("samples")), 1000);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 2e-6) << i;
  const auto [least, most] = std::ranges::minmax(actual);
  EXPECT_GT(most - least, 0.4);
}

TEST(VoiceActivity, ProbabilitiesDoNotDependOnTheSizesOfPieces) {
  std::vector<float> samples = voice_activity_samples(5000);
  const std::vector<float> whole = probabilities_of(samples, samples.size());
  EXPECT_EQ(whole.size(), 10U);
  for (const std::size_t chunk : {1u, 63u, 511u, 512u, 513u, 1111u})
    EXPECT_EQ(probabilities_of(samples, chunk), whole) << chunk;
  samples.resize(5120);  // silence follows the end
  EXPECT_EQ(probabilities_of(samples, 512), whole);
  EXPECT_EQ(probabilities_of({}, 512), std::vector<float>{});
}

TEST(VoiceActivity, OtherFilesAreRefused) {
  const TempFolder folder;
  const std::string path = folder / "vad.safetensors";
  EXPECT_NE(refusal_of(path, [&] { VoiceActivity::load(path); }), "no exception");
  const std::vector<NamedTensor> whole = random_voice_activity();
  ASSERT_EQ(whole.size(), 15U);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::vector<NamedTensor> tensors = whole;
    tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(i));
    write_safetensors(path, tensors);
    EXPECT_EQ(refusal_of<WeightError>(path, [&] { VoiceActivity::load(path); }).find(" is missing, expected shape ["),
              (path + ": tensor '" + whole[i].name + "'").size());
    tensors = whole;
    tensors[i].tensor = Tensor::allocate({130, 1, 128});  // the shape of the model for 8 kHz
    write_safetensors(path, tensors);
    const std::string wrong = path + ": tensor '" + whole[i].name + "': shape [130, 1, 128], expected [";
    EXPECT_TRUE(refusal_of<WeightError>(path, [&] { VoiceActivity::load(path); }).starts_with(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace encdec
