// Self-attention in numbers that can be checked by hand. Every step is a layer.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "dense/dot_product_attention.h"
#include "dense/masked_softmax.h"
#include "dense/weighted_sum.h"
#include "dense_fixture.h"
#include "encdec/layers/transformer/linear.h"
#include "tests/support/weights_builder.h"

namespace lessons {
namespace {

const Tensor kX = floats({3, 4}, {1, 0, 1, 0, 0, 2, 0, 2, 1, 1, 1, 1});
const Tensor kKeys = floats({3, 3}, {0, 1, 1, 4, 4, 0, 2, 3, 1});
const Tensor kQueries = floats({3, 3}, {1, 0, 2, 2, 2, 2, 2, 1, 3});
const Tensor kValues = floats({3, 3}, {1, 2, 3, 2, 8, 0, 2, 6, 3});
const Tensor kScores = floats({3, 3}, {2, 4, 4, 4, 16, 12, 4, 12, 10});
// The softmax, with the digits that are usually printed, and rounded by hand.
constexpr std::array kSoftmax = {6.3379e-02, 4.6831e-01, 4.6831e-01, 6.0337e-06, 9.8201e-01,
                                 1.7986e-02, 2.9539e-04, 8.8054e-01, 1.1917e-01};
const Tensor kRounded = floats({3, 3}, {0, 0.5f, 0.5f, 0, 1, 0, 0, 0.9f, 0.1f});
constexpr std::array kOutputs = {2.0, 7.0, 1.5, 2.0, 8.0, 0.0, 2.0, 7.8, 0.3};

// The matrix is written for x W; a Linear stores it transposed.
Tensor projected(const std::vector<float>& matrix) {
  Tensor weight = Tensor::allocate({3, 4});
  for (int in = 0; in < 4; ++in) {
    for (int out = 0; out < 3; ++out) weight.row(out)[in] = matrix[static_cast<std::size_t>(3 * in + out)];
  }
  return run_dense(std::make_shared<Linear>(make_scope({{"weight", weight}}),
                                            LinearOptions{.input_width = 4, .output_width = 3, .bias = Bias::none}),
                   {kX});
}

TEST(SelfAttentionByHand, KeysQueriesAndValuesAreExact) {
  EXPECT_TRUE(same_bits(kKeys, projected({0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 0})));
  EXPECT_TRUE(same_bits(kQueries, projected({1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1})));
  EXPECT_TRUE(same_bits(kValues, projected({0, 2, 0, 0, 3, 0, 1, 0, 3, 1, 1, 0})));
}

TEST(SelfAttentionByHand, ScoresAreExact) {
  const auto scores = std::make_shared<DotProductScores>(DotProductOptions{.scale = ScoreScale::plain});
  EXPECT_TRUE(same_bits(kScores, run_dense(scores, {kQueries, kKeys})));
}

TEST(SelfAttentionByHand, SoftmaxHasThePrintedDigits) {
  const Tensor weights = run_dense(std::make_shared<MaskedSoftmax>(), {kScores});
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_NEAR(weights.data<float>()[i], kSoftmax[i], 0.5e-4 * std::pow(10.0, std::floor(std::log10(kSoftmax[i]))));
  }
}

TEST(SelfAttentionByHand, RoundedWeightsGiveTheOutputs) {
  const Tensor outputs = run_dense(std::make_shared<WeightedSum>(), {kRounded, kValues});
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(outputs.data<float>()[i], kOutputs[i], 5e-7);
}

TEST(SelfAttentionByHand, OneLayerDoesEverythingAfterTheProjections) {
  const auto attention = std::make_shared<DotProductAttention>(DotProductOptions{.scale = ScoreScale::plain});
  const Tensor weights = run_dense(std::make_shared<MaskedSoftmax>(), {kScores});
  EXPECT_TRUE(same_bits(run_dense(std::make_shared<WeightedSum>(), {weights, kValues}),
                        run_dense(attention, {kQueries, kKeys, kValues})));
}

}  // namespace
}  // namespace lessons
