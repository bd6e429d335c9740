#include "dense/dense_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "additive_fixture.h"
#include "dense/additive_attention.h"
#include "dense/dot_product_attention.h"
#include "dense/masked_softmax.h"
#include "tests/layers/bad_input.h"

namespace lessons {
namespace {

using reference::Matrix;

// Attention as one layer, its scores as a separate layer, and the inputs of both.
struct Attention {
  std::shared_ptr<const Layer> attention;
  std::shared_ptr<const Layer> scores;
  std::vector<Tensor> inputs;
  std::function<Matrix(Dim member)> expected_scores;

  std::optional<Tensor> lengths() const { return inputs.size() == 4 ? std::optional(inputs[3]) : std::nullopt; }

  Matrix expected_weights(Dim b) const {
    const Dim queries = inputs[0].shape()[1], keys = inputs[1].shape()[1];
    return softmax(mask_beyond(expected_scores(b), lengths_of_rows(lengths(), b, queries, keys)));
  }
  Matrix expected_weights() const {
    return for_each_member(inputs[0].shape()[0], [this](Dim b) { return expected_weights(b); });
  }
  Matrix expected() const {
    return for_each_member(inputs[0].shape()[0], [this](Dim b) {
      return reference::weighted_sum(expected_weights(b), Matrix(member(inputs[2], b)));
    });
  }

  // Runs scores, softmax and weighted sum as three layers, one after another.
  Tensor composed() const {
    std::vector<Tensor> softmax_inputs = {run_dense(scores, {inputs[0], inputs[1]})};
    if (lengths()) softmax_inputs.push_back(*lengths());
    const Tensor weights = run_dense(std::make_shared<MaskedSoftmax>(), softmax_inputs);
    return run_dense(std::make_shared<WeightedSum>(), {weights, inputs[2]});
  }
};

Attention additive(AdditiveCase c) {
  const auto attention = c.layer<AdditiveAttention>(), scores = c.layer<AdditiveScores>();
  return {attention, scores, {c.queries, c.keys, c.values}, [c](Dim b) { return c.expected_scores(b); }};
}

Attention dot_product(std::vector<Tensor> inputs, ScoreScale scale) {
  const DotProductOptions options{.scale = scale};
  const double divisor = scale == ScoreScale::plain ? 1.0 : std::sqrt(static_cast<double>(inputs[0].width()));
  return {std::make_shared<DotProductAttention>(options), std::make_shared<DotProductScores>(options), inputs,
          [inputs, divisor](Dim b) {
            return reference::dot_product_scores(Matrix(member(inputs[0], b)), Matrix(member(inputs[1], b)), divisor);
          }};
}

// Returns both kinds of attention at one size.
std::vector<Attention> attentions(const DenseSizes& sizes) {
  RandomTensors random(1);
  const std::vector<Tensor> inputs = {random.uniform({sizes.batch, sizes.queries, sizes.query_dim}),
                                      random.uniform({sizes.batch, sizes.keys, sizes.query_dim}),
                                      random.uniform({sizes.batch, sizes.keys, sizes.value_dim})};
  return {additive(AdditiveCase(1, sizes, 11, Bias::none)), dot_product(inputs, ScoreScale::scaled),
          dot_product(inputs, ScoreScale::plain)};
}

// Returns each attention without lengths, with a length for each member, and with a length for each query.
std::vector<Attention> with_and_without_lengths(const DenseSizes& sizes) {
  std::vector<Attention> all;
  for (const Attention& attention : attentions(sizes)) {
    all.push_back(attention);
    for (const Shape& shape : {Shape{sizes.batch}, Shape{sizes.batch, sizes.queries}}) {
      all.push_back(attention);
      all.back().inputs.push_back(some_lengths(shape, sizes.keys));
    }
  }
  return all;
}

TEST(DenseAttention, FollowsTheFormulaForEverySizeAndMask) {
  for (const DenseSizes& sizes : kDenseSizes) {
    for (const Attention& a : with_and_without_lengths(sizes)) {
      EXPECT_TRUE(is_close_to(a.expected(), run_dense(a.attention, a.inputs))) << a.attention->kind();
    }
  }
}

TEST(DenseAttention, MatchesPyTorch) {
  const GoldenLayer golden("dense_attention");
  for (const std::string& name : golden.cases()) {
    Attention a = additive(AdditiveCase(1, {1, 1, 1, 1, 1, 1}, 1, Bias::none));
    if (name.starts_with("additive_")) {
      a = additive(AdditiveCase(golden, name));
    } else {
      a = dot_product({golden.input(name, "queries"), golden.input(name, "keys"), golden.input(name, "values")},
                      name.starts_with("plain_") ? ScoreScale::plain : ScoreScale::scaled);
    }
    if (golden.has_input(name, "lengths")) a.inputs.push_back(golden.input(name, "lengths"));
    EXPECT_TRUE(golden_is_within(a.expected_weights(), golden.output(name, "weights"))) << name;
    EXPECT_TRUE(golden_is_within(a.expected(), golden.output(name, "attended"))) << name;
    EXPECT_TRUE(is_close_to(a.expected(), run_dense(a.attention, a.inputs))) << name;
  }
}

TEST(DenseAttention, HasTheSameBitsAsItsThreeLayersInSequence) {
  for (const DenseSizes& sizes : kDenseSizes) {
    for (const Attention& a : with_and_without_lengths(sizes)) {
      EXPECT_TRUE(same_bits(a.composed(), run_dense(a.attention, a.inputs))) << a.attention->kind();
    }
  }
}

TEST(DenseAttention, ReportsTheWeightsOfEveryRow) {
  for (const Attention& a : with_and_without_lengths({2, 9, 5, 3, 3, 4})) {
    for (const int threads : {1, 3}) {
      DenseRunner runner(a.attention, a.inputs, threads);
      EXPECT_TRUE(is_close_to(a.expected_weights(), runner.observed_weights())) << a.attention->kind();
    }
  }
}

TEST(DenseAttention, DoesNotDependOnThreadsOrNeighbours) {
  for (const Attention& a : with_and_without_lengths({3, 39, 21, 13, 13, 67})) {
    expect_rows_are_independent(a.attention, a.inputs);
  }
}

TEST(DenseAttention, AllocatesNothingAfterTheFirstRun) {
  for (const Attention& a : with_and_without_lengths({2, 9, 5, 3, 3, 4})) {
    EXPECT_EQ(DenseRunner(a.attention, a.inputs).allocations(), 0) << a.attention->kind();
  }
}

// The example of d2l.ai, section 10.3.3. All keys are equal, so that each output is the mean of the values that are not
// masked.
TEST(DenseAttention, GivesTheMeansOfTheD2lExample) {
  Tensor keys = Tensor::allocate({2, 10, 2}), values = Tensor::allocate({2, 10, 4});
  std::fill_n(keys.data<float>(), keys.elements(), 1.0f);
  for (int i = 0; i < 80; ++i) values.data<float>()[i] = static_cast<float>(i % 40);
  const Tensor lengths = int32s({2}, {2, 6}), expected = floats({2, 1, 4}, {2, 3, 4, 5, 10, 11, 12, 13});
  RandomTensors random(2);
  const AdditiveCase weights(3, {2, 1, 10, 20, 2, 4}, 8, Bias::none);
  const std::array<std::pair<std::shared_ptr<const Layer>, Dim>, 2> cases = {
      std::pair{weights.layer<AdditiveAttention>(), Dim{20}},
      {std::make_shared<DotProductAttention>(DotProductOptions{}), Dim{2}}};
  for (const auto& [layer, query_dim] : cases) {
    const Tensor output = run_dense(layer, {random.uniform({2, 1, query_dim}), keys, values, lengths});
    for (int i = 0; i < 8; ++i) EXPECT_NEAR(output.data<float>()[i], expected.data<float>()[i], 4e-6) << layer->kind();
  }
}

TEST(DenseAttention, WithoutKeysGivesZeros) {
  for (const Attention& a : attentions({2, 3, 1, 4, 4, 5})) {
    const auto none = [](Dim width) { return Tensor({}, DataType::float32, {2, 0, width}); };
    const Tensor output = run_dense(a.attention, {a.inputs[0], none(4), none(5), int32s({2}, {0, 3})});
    EXPECT_TRUE(same_bits(Tensor::allocate({2, 3, 5}), output)) << a.attention->kind();
  }
}

TEST(DenseAttention, RefusesInputsThatDoNotFit) {
  const auto layer = std::make_shared<DotProductAttention>(DotProductOptions{});
  EXPECT_EQ(shape_error(layer, {{2, 3, 4}, {2, 5, 4}}),
            "2 inputs, expected queries, keys, values and perhaps valid lengths");
  EXPECT_EQ(shape_error(layer, {{2, 3, 4}, {2, 5, 4}, {2, 6, 7}}),
            "weights have shape [2, 3, 5] and values [2, 6, 7], expected [batch, queries, keys] and [batch, keys, "
            "width], or both without a batch");
  EXPECT_EQ(shape_error(layer, {{2, 3, 4}, {2, 5, 4}, {2, 5, 7}, {5}}),
            "valid lengths have shape [5], expected [2] or [2, 3]");
  EXPECT_EQ(
      shape_error(layer, {{kBatch, kTargetRows, 4}, {kBatch, kSourceRows, 4}, {kBatch, kSourceRows, 7}, {kBatch}}),
      "no exception");
}

TEST(AdditiveAttention, EveryWeightIsChecked) {
  const AdditiveCase c(4, {1, 1, 1, 3, 4, 1}, 5, Bias::required);
  expect_every_weight_is_checked<AdditiveAttention>(c.weights, c.options);
}

}  // namespace
}  // namespace lessons
