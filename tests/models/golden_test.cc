// Compares the checkpoints of tests/golden with transformers: each node's output, and greedy generation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "encdec/models/checkpoint/safetensors.h"
#include "encdec/models/model.h"
#include "tests/support/comparison.h"
#include "tests/support/golden_cases.h"

namespace encdec {
namespace {

// Relative to the largest value. The reference itself computes in float32.
constexpr double kTolerance = 2e-5;

const std::filesystem::path kGolden = ENCDEC_GOLDEN_DIR;

// Returns the largest difference relative to the largest expected value.
double difference(const Tensor& found, const Tensor& expected) {
  double largest = 0;
  for (std::int64_t i = 0; i < expected.elements(); ++i) {
    largest = std::max(largest, std::abs(double{expected.data<float>()[i]}));
  }
  EXPECT_GT(largest, 0) << "nothing but zeros is expected: this would prove nothing";
  return largest_difference(found, expected) / largest;
}

class Golden : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    expected_ = read_safetensors(kGolden / GetParam() / "expected.safetensors");
    sources_ = id_rows(*expected_, "source_ids");
    targets_ = id_rows(*expected_, "target_ids");
  }

  Model load(int threads) const { return Model::load(kGolden / GetParam() / "model", {.threads = threads}); }

  std::shared_ptr<const WeightStore> expected_;
  std::vector<TokenIds> sources_;
  std::vector<TokenIds> targets_;
};

TEST_P(Golden, EveryNodeEqualsTheReference) {
  const Model model = load(1);
  std::string first_wrong;
  std::size_t compared = 0;
  ForwardOptions options;
  options.observer = [&](const Graph::Node& node, const Tensor& output) {
    const Tensor* expected = expected_->find("nodes/" + node.name);
    if (expected == nullptr) return;
    ++compared;
    const double found = difference(output, *expected);
    if (found > kTolerance && first_wrong.empty()) first_wrong = node.name + ": " + std::to_string(found);
  };
  const ForwardResult result = model.forward(sources_, targets_, options);
  EXPECT_EQ(first_wrong, "") << "the first node that differs";
  const bool has_decoder = model.config().has_decoder(), has_encoder = model.config().has_encoder();
  if (has_decoder || expected_->find("logits") != nullptr) {
    EXPECT_LE(difference(result.logits, *expected_->find("logits")), kTolerance);
  }
  if (has_encoder) {
    const char* name = has_decoder ? "encoder_last_hidden_state" : "last_hidden_state";
    EXPECT_LE(difference(result.encoder_last_hidden_state, *expected_->find(name)), kTolerance);
  }
  const auto is_node = [](const auto& entry) { return entry.first.starts_with("nodes/"); };
  EXPECT_EQ(compared, static_cast<std::size_t>(std::ranges::count_if(expected_->tensors(), is_node)));
}

// The golden models that generate.
class GoldenGreedy : public Golden {};

TEST_P(GoldenGreedy, TokensEqualTheReferenceAloneAndInAnyBatch) {
  const auto expected = id_rows(*expected_, "greedy_ids");
  const Tensor& scores = *expected_->find("greedy_scores");
  for (const int threads : {1, 2}) {
    const Model model = load(threads);
    for (const int batch_size : {1, 3, 64}) {
      GenerateOptions options{.num_beams = 1, .batch_size = batch_size};
      // These formats have no generation settings, and the reference stops at the default of transformers.
      const bool has_settings = model.checkpoint().format != CheckpointFormat::ctranslate2 &&
                                model.checkpoint().format != CheckpointFormat::npz;
      if (!has_settings) options.max_new_tokens = 20;
      const auto results = model.generate_ids(model.config().has_encoder() ? sources_ : targets_, options);
      ASSERT_EQ(results.size(), expected.size());
      for (std::size_t i = 0; i < results.size(); ++i) {
        const Hypothesis& hypothesis = results[i].hypotheses.front();
        EXPECT_EQ(hypothesis.token_ids, expected[i]) << "source " << i << ", batch size " << batch_size;
        EXPECT_NEAR(hypothesis.score, scores.data<float>()[i], 1e-4) << "source " << i;
      }
    }
  }
}

std::vector<std::string> generating_case_names() {
  std::vector<std::string> names = golden_cases_with("expected.safetensors");
  std::erase_if(names, [](const std::string& name) {
    return read_safetensors(kGolden / name / "expected.safetensors")->find("greedy_ids") == nullptr;
  });
  return names;
}

INSTANTIATE_TEST_SUITE_P(Families, Golden, testing::ValuesIn(golden_cases_with("expected.safetensors")), name_of_case);
INSTANTIATE_TEST_SUITE_P(Families, GoldenGreedy, testing::ValuesIn(generating_case_names()), name_of_case);

}  // namespace
}  // namespace encdec
