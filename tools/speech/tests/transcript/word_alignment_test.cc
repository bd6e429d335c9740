#include "encdec/speech/transcript/word_alignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "encdec/models/checkpoint/safetensors.h"
#include "tools/speech/tests/transcript/word_golden.h"

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

TEST(WordAlignment, MatrixMatchesOpenai) {
  for (const auto& golden : golden_speech("alignment")) {
    const AlignmentCase given(golden);
    if (given.matrix.empty()) continue;
    const std::vector<float> found = alignment_matrix(given.attention);
    ASSERT_EQ(found.size(), given.matrix.size()) << golden.at("name");
    for (std::size_t i = 0; i < found.size(); ++i) {
      // Two tokens with nearly the same weight in a position: their difference has lost digits.
      if (!std::isnan(found[i]) || !std::isnan(given.matrix[i])) {
        EXPECT_NEAR(found[i], given.matrix[i], 1e-4) << golden.at("name") << ' ' << i;
      }
    }
  }
}

TEST(WordAlignment, TimesMatchOpenai) {
  for (const auto& golden : golden_speech("alignment")) {
    const AlignmentCase given(golden);
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

TEST(WordAlignment, WeightsAfterTheRecordingDoNotMatter) {
  const AlignmentCase given(golden_speech("alignment")[0]);
  AlignmentAttention cut = given.attention;
  const Shape& shape = given.attention.weights.shape();
  cut.weights = Tensor::allocate({shape[0], shape[1], static_cast<Dim>(cut.frames)});
  for (Dim row = 0; row < shape[0] * shape[1]; ++row) {
    std::copy_n(given.attention.weights.row(row), cut.frames, cut.weights.row(row));
  }
  EXPECT_EQ(alignment_matrix(cut), alignment_matrix(given.attention));
  cut.weights = Tensor::allocate(
      cut.weights.shape());  // all weights within the recording are 0: NaN in the matrix, but no failure
  for (const WordTiming& word : find_alignment(cut, given.probabilities, given.words)) {
    EXPECT_EQ(word.start, -0.02);
    EXPECT_EQ(word.end, -0.02);
  }
}

// Returns the largest sum over all paths, by trying all of them.
double best_sum(const std::vector<float>& benefit, std::size_t columns, std::size_t row, std::size_t column) {
  const double own = benefit[row * columns + column];
  if (row == 0 && column == 0) return own;
  double best = -std::numeric_limits<double>::infinity();
  if (row > 0) best = std::max(best, best_sum(benefit, columns, row - 1, column));
  if (column > 0) best = std::max(best, best_sum(benefit, columns, row, column - 1));
  if (row > 0 && column > 0) best = std::max(best, best_sum(benefit, columns, row - 1, column - 1));
  return own + best;
}

TEST(WordAlignment, NoPathIsBetter) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (const std::size_t rows : {1u, 2u, 4u, 6u}) {
    for (const std::size_t columns : {1u, 2u, 5u, 7u}) {
      std::vector<float> benefit(rows * columns);
      std::ranges::generate(benefit, [&] { return normal(random); });
      const auto first = first_columns(benefit, rows);
      ASSERT_EQ(first.size(), rows);
      EXPECT_EQ(first[0], 0);
      EXPECT_TRUE(std::ranges::is_sorted(first));
      // Sums the best path with these first columns: each row continues to the column where the next row begins, or to
      // the column before.
      double sum = 0;
      for (std::size_t row = 0; row < rows; ++row) {
        const auto begin = static_cast<std::size_t>(first[row]);
        const std::size_t next = row + 1 < rows ? static_cast<std::size_t>(first[row + 1]) : columns;
        for (std::size_t column = begin; column < std::max(next, begin + 1); ++column) {
          sum += benefit[row * columns + column];
        }
        if (row + 1 < rows && next > begin) sum += std::max(0.0F, benefit[row * columns + next]);
      }
      EXPECT_GE(sum, best_sum(benefit, columns, rows - 1, columns - 1) - 1e-6) << rows << ' ' << columns;
    }
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
