#include "encdec/layers/transformer/multi_head_attention.h"

#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"
#include "tests/layers/attention_fixture.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

using reference::Mask;

LayerCase multi_head_case(const AttentionOptions& options) {
  return self_attention_case(make_attention<MultiHeadAttention>, options, {7, 1, 12}, Mask::none);
}

std::vector<LayerCase> multi_head_cases() {
  return self_attention_cases(make_attention<MultiHeadAttention>, Mask::none);
}
INSTANTIATE_TEST_SUITE_P(MultiHeadAttention, LayerContract, testing::Values(&multi_head_cases));

std::vector<LayerCase> causal_cases() {
  return self_attention_cases(make_attention<MultiHeadAttention>, Mask::none, {.after = 0});
}
INSTANTIATE_TEST_SUITE_P(Causal, LayerContract, testing::Values(&causal_cases));

std::vector<LayerCase> window_cases() {
  return self_attention_cases(make_attention<MultiHeadAttention>, Mask::none, {.before = 4, .after = 2});
}
INSTANTIATE_TEST_SUITE_P(Window, LayerContract, testing::Values(&window_cases));

std::vector<LayerCase> stream_cases() {
  std::vector<LayerCase> cases;
  for (const auto& [before, after] : {std::pair(4, 2), {0, 3}, {15, 0}}) {
    AttentionOptions options = options_for({10, 2, 16}, Residual::add);
    options.limits = {.before = before, .after = after};
    options.in_pieces = true;
    cases.push_back(self_attention_case(make_attention<MultiHeadAttention>, options, {60, 33}, Mask::none));
    cases.back().stream_delay = after;
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(AttentionToChunk, LayerContract, testing::Values(&stream_cases));

std::vector<LayerCase> shared_key_cases() {
  std::vector<LayerCase> cases;
  for (const auto& [sizes, key_value_heads] : {std::pair(AttentionSizes{16, 4}, 2),
                                               {AttentionSizes{15, 5}, 1},
                                               {AttentionSizes{96, 6}, 6},
                                               {AttentionSizes{10, 6, 16}, 3}}) {
    AttentionOptions options = options_for(sizes, Residual::add);
    options.key_value_heads = key_value_heads;
    cases.push_back(multi_head_case(options));
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(SharedKeys, LayerContract, testing::Values(&shared_key_cases));

std::vector<LayerCase> rotary_cases() {
  std::vector<LayerCase> cases;
  for (const AttentionSizes& sizes : {AttentionSizes{6, 3}, {16, 2}, {96, 3}, {10, 2, 16}}) {
    for (const RotaryOptions& rotary : {RotaryOptions{.base = 10000},
                                        {.base = 50, .share = 0.9, .neighbours = true},
                                        {.base = 50, .share = 0.5, .neighbours = true},
                                        {.base = 50, .scale = 0.7f},
                                        {.base = 50, .growth = 2.5f, .trained_positions = 7}}) {
      AttentionOptions options = options_for(sizes);
      options.rotary = rotary;
      cases.push_back(multi_head_case(options));
    }
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(RotaryPositions, LayerContract, testing::Values(&rotary_cases));

std::vector<LayerCase> biased_cases() {
  AttentionOptions options = options_for({20, 3, 5});
  options.score_scale = 1.0f;
  options.relative_positions = {.buckets = 8, .max_distance = 11};
  return {self_attention_case(make_attention<MultiHeadAttention>, options, {1, 4, 40}, Mask::none)};
}
INSTANTIATE_TEST_SUITE_P(RelativePositionBias, LayerContract, testing::Values(&biased_cases));

// The formula is that of the golden models of DeBERTa.
std::vector<LayerCase> disentangled_cases() {
  AttentionOptions options = options_for({24, 6});
  options.disentangled_positions = {
      .span = 4, .max_distance = 9, .scores_keys = true, .scores_queries = true, .norm_epsilon = 1e-7f};
  LayerCase c = multi_head_case(options);
  c.expected = {};
  return {c};
}
INSTANTIATE_TEST_SUITE_P(DisentangledPositions, LayerContract, testing::Values(&disentangled_cases));

TEST(AttentionOptions, HeadsMustFitTheModelAndTheKeys) {
  const WeightScope none = make_scope({});
  for (const int heads : {3, 0, -1}) {
    EXPECT_EQ(message_of<ShapeError>([&] { MultiHeadAttention(none, {.model_dim = 10, .heads = heads}); }),
              std::to_string(heads) + " attention heads do not divide the model dimension 10");
  }
  EXPECT_EQ(
      message_of<ShapeError>([&] { MultiHeadAttention(none, {.model_dim = 12, .heads = 6, .key_value_heads = 4}); }),
      "4 key/value heads do not divide 6 attention heads");
}

}  // namespace
}  // namespace encdec
