// Compares the attention weights of the checkpoints in tests/golden with those that transformers returns with
// output_attentions=True.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/safetensors.h"
#include "encdec/models/model.h"
#include "tests/support/comparison.h"
#include "tests/support/golden_cases.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

// The reference itself computes in float32. The documentation promises 1e-5.
constexpr double kTolerance = 4e-6;

const std::filesystem::path kGolden = ENCDEC_GOLDEN_DIR;

std::string stored_name(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::encoder_self: return "encoder_self";
    case AttentionKind::decoder_self: return "decoder_self";
    case AttentionKind::cross: return "cross";
  }
  return {};
}

// Returns the mean of [L, H, Q, K] over layers and heads: [1, 1, Q, K].
Tensor mean_of(const Tensor& weights) {
  const Shape& shape = weights.shape();
  Tensor mean = Tensor::allocate({1, 1, shape[2], shape[3]});
  const Dim maps = shape[0] * shape[1], size = shape[2] * shape[3];
  for (Dim i = 0; i < maps * size; ++i) {
    mean.data<float>()[i % size] += weights.data<float>()[i] / static_cast<float>(maps);
  }
  return mean;
}

class AttentionGolden : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    expected_ = read_safetensors(kGolden / GetParam() / "attention.safetensors");
    source_ = ids("source_ids");
    decoder_input_ = ids("decoder_input_ids");
  }

  TokenIds ids(const std::string& name) const {
    const Tensor* tensor = expected_->find(name);
    if (tensor == nullptr) return {};
    const auto* first = tensor->data<std::int32_t>();
    return {first, first + tensor->elements()};
  }

  static Model load(Precision precision = Precision::float32, int threads = 1) {
    return Model::load(kGolden / GetParam() / "model", {.threads = threads, .precision = precision});
  }

  // As for the reference, the decoder reads the whole decoder input. A token after it would not change the weights.
  AttentionMaps attention(const Model& model, const AttentionSelection& selection = {}) const {
    if (!model.config().has_decoder()) return model.attention_ids(source_, {}, {.selection = selection});
    if (!model.config().has_encoder()) return model.attention_ids(decoder_input_, {}, {.selection = selection});
    EXPECT_EQ(decoder_input_.front(), model.generation_config().decoder_start_token);
    TokenIds target(decoder_input_.begin() + 1, decoder_input_.end());
    target.push_back(0);
    return model.attention_ids(source_, target, {.selection = selection});
  }

  std::shared_ptr<const WeightStore> expected_;
  TokenIds source_, decoder_input_;
};

TEST_P(AttentionGolden, EveryHeadOfEveryLayerEqualsTheReference) {
  const Model model = load();
  const AttentionMaps found = attention(model);
  EXPECT_EQ(found.source, source_);
  EXPECT_EQ(found.decoder_input, decoder_input_);
  std::size_t stored = 0;
  for (const auto& [name, tensor] : expected_->tensors()) stored += tensor.shape().rank() == 4;
  ASSERT_EQ(found.maps.size(), stored);
  for (const AttentionMap& map : found.maps) {
    EXPECT_LE(largest_difference(map.weights, *expected_->find(stored_name(map.kind))), kTolerance)
        << to_string(map.kind);
  }
}

TEST_P(AttentionGolden, SelectionsAreTakenFromTheSameMaps) {
  const Model model = load();
  for (const AttentionMap& all : attention(model).maps) {
    const AttentionMap mean = attention(model, {.kinds = {all.kind},
                                                .layers = {.of = AttentionChoice::Of::mean},
                                                .heads = {.of = AttentionChoice::Of::mean}})
                                  .maps.front();
    EXPECT_LE(largest_difference(mean.weights, mean_of(all.weights)), 1e-6);
    const AttentionMap last = attention(model, {.kinds = {all.kind},
                                                .layers = {.of = AttentionChoice::Of::one, .number = -1},
                                                .heads = {.of = AttentionChoice::Of::one, .number = 0}})
                                  .maps.front();
    const Shape& shape = all.weights.shape();
    const Tensor layer = Tensor(all.weights).slice(shape[0] - 1, 1).reshape({shape[1], shape[2] * shape[3]});
    EXPECT_TRUE(same_bits(layer.slice(0, 1).reshape({1, 1, shape[2], shape[3]}), last.weights));
  }
}

double sum_of_row(const AttentionMap& map, std::int64_t row) {
  const float* weights = map.weights.row(row);
  return std::accumulate(weights, weights + map.weights.width(), 0.0);
}

TEST_P(AttentionGolden, InEveryPrecisionWeightsAddUpToOne) {
  const bool has_one_softmax = GetParam().starts_with("t5gemma2");  // over target and source
  for (const Precision precision : {Precision::bfloat16, Precision::int8}) {
    const std::vector<AttentionMap> maps = attention(load(precision)).maps;
    for (const AttentionMap& map : maps) {
      EXPECT_LE(largest_difference(map.weights, *expected_->find(stored_name(map.kind))), 0.25) << to_string(map.kind);
      for (std::int64_t row = 0; row < map.weights.rows(); ++row) {
        double sum = sum_of_row(map, row);
        if (has_one_softmax && map.kind != AttentionKind::encoder_self) {
          sum = sum_of_row(maps[1], row) + sum_of_row(maps[2], row);
        }
        EXPECT_NEAR(sum, 1.0, 1e-5);
      }
    }
  }
}

TEST_P(AttentionGolden, NumberOfThreadsDoesNotChangeABit) {
  const AttentionMaps one = attention(load()), three = attention(load(Precision::float32, 3));
  for (std::size_t i = 0; i < one.maps.size(); ++i) {
    EXPECT_TRUE(same_bits(one.maps[i].weights, three.maps[i].weights));
  }
}

TEST_P(AttentionGolden, GenerationReturnsTheAttentionOfItsResult) {
  for (const Precision precision : {Precision::float32, Precision::int8}) {
    const Model model = load(precision);
    if (!model.config().has_decoder()) return;
    const bool has_encoder = model.config().has_encoder();
    const std::vector<TokenIds> sources = {{4, 5, 6}, has_encoder ? source_ : decoder_input_, {7}};
    const AttentionSelection selection{.kinds = {has_encoder ? AttentionKind::cross : AttentionKind::decoder_self},
                                       .layers = {.of = AttentionChoice::Of::one, .number = -1},
                                       .heads = {.of = AttentionChoice::Of::mean}};
    for (const int beams : {1, 3}) {
      GenerateOptions options{.num_beams = beams, .max_new_tokens = 6};
      const auto plain = model.generate_ids(sources, options);
      options.attention = selection;
      const auto results = model.generate_ids(sources, options);
      for (std::size_t i = 0; i < sources.size(); ++i) {
        const Hypothesis& hypothesis = results[i].hypotheses.front();
        EXPECT_EQ(hypothesis.token_ids, plain[i].hypotheses.front().token_ids) << "attention changes no token";
        const AttentionMaps expected = model.attention_ids(sources[i], hypothesis.token_ids, {.selection = selection});
        EXPECT_EQ(hypothesis.attention.target, expected.target);
        ASSERT_EQ(hypothesis.attention.maps.size(), 1u);
        EXPECT_TRUE(same_bits(expected.maps[0].weights, hypothesis.attention.maps[0].weights)) << beams;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, AttentionGolden, testing::ValuesIn(golden_cases_with("attention.safetensors")),
                         name_of_case);

// Returns the error of a request for attention.
std::string refusal(const std::string& family, const AttentionSelection& selection, const TokenIds& source,
                    const TokenIds& target) {
  const Model model = Model::load(kGolden / family / "model", {.threads = 1});
  return message_of([&] { model.attention_ids(source, target, {.selection = selection}); });
}

TEST(Attention, RefusesMapsThatTheModelDoesNotHave) {
  using Of = AttentionChoice::Of;
  EXPECT_EQ(refusal("bert/base", {.kinds = {AttentionKind::cross}}, {4, 5}, {}),
            "cross-attention was requested, but bert has none");
  EXPECT_EQ(refusal("bert/base", {}, {4, 5}, {6}), "a target of 1 tokens, expected none: bert does not read it");
  EXPECT_EQ(refusal("gpt2/without_prefix", {.kinds = {AttentionKind::encoder_self}}, {4, 5}, {}),
            "encoder self-attention was requested, but gpt2 has none");
  EXPECT_EQ(refusal("marian/odd_sizes", {.layers = {.of = Of::one, .number = 3}}, {4, 5}, {6}),
            "encoder self-attention: layer 3, expected 0 to 2, or -3 to -1");
  EXPECT_EQ(refusal("marian/odd_sizes", {.heads = {.of = Of::one, .number = -4}}, {4, 5}, {6}),
            "encoder self-attention: head -4, expected 0 to 2, or -3 to -1");
  EXPECT_EQ(refusal("marian/odd_sizes", {}, {}, {6}), "source 1: no tokens, expected at least one");
  EXPECT_THAT(refusal("marian/odd_sizes", {}, {4}, {1'000'000}), testing::HasSubstr("target 1: token id 1000000"));
}

TEST(Attention, ATextAsTargetIsRefusedLikeIds) {
  if (!can_read_weights(kGolden / "ctranslate2/bert/model")) GTEST_SKIP() << "the format is not in this build";
  const Model model = Model::load(kGolden / "ctranslate2/bert/model", {.threads = 1});
  EXPECT_NO_THROW(model.attention("a", ""));
  EXPECT_THAT(message_of<InputError>([&] { model.attention("a", "b"); }),
              testing::EndsWith("expected none: ctranslate2 does not read it"));
}

TEST(Attention, MapsTooLargeForMemoryAreRefusedBeforeTheyAreComputed) {
  const TokenIds longest(40'000, 4);
  EXPECT_THAT(refusal("t5/v1_1", {}, longest, {5}), testing::HasSubstr("choose a kind, a layer or a head"));
}

TEST(Attention, WithoutATargetTheEncodersMapIsAvailable) {
  const Model model = Model::load(kGolden / "marian/odd_sizes/model", {.threads = 1});
  const AttentionMaps found =
      model.attention_ids({4, 5, 6}, {}, {.selection = {.kinds = {AttentionKind::encoder_self}}});
  EXPECT_EQ(found.maps.front().weights.shape()[3], 3);
}

}  // namespace
}  // namespace encdec
