#include "encdec/speech/transcript/word_alignment.h"

#include <gtest/gtest.h>

#include <cmath>

#include "encdec/models/checkpoint/safetensors.h"
#include "tools/speech/tests/golden_speech.h"

namespace encdec {
namespace {

const WeightStore& tensors() {
  static const auto store = read_safetensors(kGoldenSpeech / "alignment.safetensors");
  return *store;
}

std::span<const float> values_of(const Tensor* tensor) {
  if (tensor == nullptr) return {};
  return {tensor->data<float>(), static_cast<std::size_t>(tensor->elements())};
}

// A case of alignment.json and its tensors.
struct AlignmentCase {
  explicit AlignmentCase(const nlohmann::json& golden)
      : probabilities(values_of(tensors().find(golden.at("name").get<std::string>() + "/probabilities"))),
        matrix(values_of(tensors().find(golden.at("name").get<std::string>() + "/matrix"))) {
    attention.weights = *tensors().find(golden.at("name").get<std::string>() + "/attention");
    attention.frames = golden.at("frames");
    attention.sot_sequence = golden.at("sot_sequence");
    for (const auto& word : golden.at("words")) words.push_back({word.at("text"), word.at("tokens")});
  }

  AlignmentAttention attention;
  std::span<const float> probabilities;
  std::span<const float> matrix;
  std::vector<WordTokens> words;
};

TEST(WordAlignment, MatricesAndTimesMatchOpenai) {
  for (const auto& golden : golden_speech("alignment")) {
    const AlignmentCase given(golden);
    if (!given.matrix.empty()) {
      const std::vector<float> found = alignment_matrix(given.attention);
      ASSERT_EQ(found.size(), given.matrix.size()) << golden.at("name");
      for (std::size_t i = 0; i < found.size(); ++i) {
        // If two tokens have nearly equal weights at a position, their difference is inaccurate.
        if (!std::isnan(found[i]) || !std::isnan(given.matrix[i])) {
          EXPECT_NEAR(found[i], given.matrix[i], 1e-4) << golden.at("name") << ' ' << i;
        }
      }
    }
    const auto found = find_alignment(given.attention, given.probabilities, given.words);
    ASSERT_EQ(found.size(), golden.at("timings").size()) << golden.at("name");
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto& expected = golden.at("timings")[i];
      EXPECT_EQ(found[i].text, expected.at("word").get<std::string>());
      EXPECT_EQ(nlohmann::json(found[i].tokens), expected.at("tokens"));
      EXPECT_EQ(found[i].start, expected.at("start").get<double>()) << golden.at("name") << ' ' << i;
      EXPECT_EQ(found[i].end, expected.at("end").get<double>()) << golden.at("name") << ' ' << i;
      EXPECT_NEAR(found[i].probability, expected.at("probability").get<double>(), 1e-12);
    }
  }
}

TEST(WordAlignment, WeightsOfZeroAreNoFailure) {
  AlignmentCase given(golden_speech("alignment")[0]);
  given.attention.weights = Tensor::allocate(given.attention.weights.shape());  // NaN in the matrix
  for (const WordTiming& word : find_alignment(given.attention, given.probabilities, given.words)) {
    EXPECT_EQ(word.start, -0.02);
    EXPECT_EQ(word.end, -0.02);
  }
}

TEST(WordAlignment, TheSameOfEqualPathsAsInOpenaiIsTaken) {
  for (const auto& golden : golden_speech("paths")) {
    const auto benefit = golden.at("benefit").get<std::vector<float>>();
    EXPECT_EQ(nlohmann::json(first_columns(benefit, golden.at("rows"))), golden.at("first_columns")) << golden;
  }
  EXPECT_EQ(first_columns({}, 2), (std::vector<std::ptrdiff_t>{-1, -1}));
}

}  // namespace
}  // namespace encdec
