#include "encdec/layers/transformer/positional_encoding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "encdec/engine/base/error.h"
#include "tests/layers/layer_contract.h"
#include "tests/support/comparison.h"
#include "tests/support/layer_runner.h"
#include "tests/support/message_of.h"
#include "tests/support/random_tensors.h"
#include "tests/support/weights_builder.h"

namespace encdec {
namespace {

using reference::Matrix;

PositionOptions learned(Dim width, Dim positions, Dim offset) {
  return {.kind = PositionOptions::Kind::learned, .model_dim = width, .count = positions, .offset = offset};
}

Matrix sinusoids(SinusoidLayout layout, std::int64_t first, std::int64_t count, Dim width) {
  return layout == SinusoidLayout::interleaved ? reference::sinusoids_interleaved(first, count, width)
                                               : reference::sinusoids_halves(first, count, width);
}

// Returns a case that adds rows of a table; `table` returns the rows of positions [first, first + count).
LayerCase position_case(
    Dim width, const std::function<std::shared_ptr<const Layer>(const WeightScope&)>& make,
    const std::function<Matrix(const LayerCase& one, std::int64_t first, std::int64_t count)>& table) {
  return {.name = "width " + std::to_string(width),
          .make = make,
          .inputs = {RandomTensors(1).uniform({11, width})},
          .rows = {3, 1, 7},
          .in_steps = true,
          .expected = [table](const LayerCase& one) {
            return add(Matrix(one.inputs[0]), table(one, one.pasts[0], one.rows[0]));
          }};
}

std::vector<LayerCase> sinusoid_cases() {
  std::vector<LayerCase> cases;
  for (const SinusoidLayout layout : {SinusoidLayout::interleaved, SinusoidLayout::halves}) {
    for (const Dim width : {1, 2, 5, 8, 31, 512}) {
      cases.push_back(position_case(
          width, [=](const WeightScope&) { return std::make_shared<PositionalEncoding>(layout, width); },
          [=](const LayerCase&, std::int64_t first, std::int64_t count) {
            return sinusoids(layout, first, count, width);
          }));
      cases.back().pasts = {0, 5, 1020};  // the last sequence reaches beyond the tabulated positions
    }
  }
  cases.back().refused = {{{}, "0 inputs, expected 1"},
                          {{{3, 512}, {3, 512}}, "2 inputs, expected 1"},
                          {{{kSourceRows, 9}}, "input has shape [S, 9], expected [rows, 512]"}};
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Sinusoids, LayerContract, testing::Values(&sinusoid_cases));

std::vector<LayerCase> learned_cases() {
  std::vector<LayerCase> cases;
  for (const Dim offset : {0, 2}) {
    cases.push_back(position_case(
        5,
        [=](const WeightScope& weights) {
          return std::make_shared<PositionalEncoding>(weights, learned(5, 20, offset));
        },
        [=](const LayerCase& one, std::int64_t first, std::int64_t count) {
          return Matrix(one.weights.at("weight")).slice_rows(offset + first, count);
        }));
    cases.back().pasts = {0, 5, 13};
    cases.back().weights = {{"weight", RandomTensors(2).uniform({20 + offset, 5})}};
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(LearnedPositions, LayerContract, testing::Values(&learned_cases));

// Rows as fairseq counts positions: a pad gets the row of the pad id, other tokens get the rows after it, and pads are
// not counted.
std::vector<LayerCase> padded_cases() {
  constexpr std::int32_t kPad = 1;
  PositionOptions options = learned(4, 10, 2);
  options.pad_token = kPad;
  LayerCase c = position_case(
      4, [=](const WeightScope& weights) { return std::make_shared<PositionalEncoding>(weights, options); },
      [](const LayerCase& one, std::int64_t first, std::int64_t count) {
        std::vector<Matrix> rows;
        for (std::int64_t row = 0; row < count; ++row) {
          const bool is_pad = one.inputs[1].data<std::int32_t>()[row] == kPad;
          rows.push_back(Matrix(one.weights.at("weight")).slice_rows(is_pad ? kPad : 2 + first++, 1));
        }
        return reference::stack(rows);
      });
  c.rows = {5, 6};
  c.pasts = {0, 3};
  c.in_steps = false;
  c.weights = {{"weight", RandomTensors(3).uniform({12, 4})}};
  c.inputs.push_back(Tensor::allocate({11}, DataType::int32));
  std::ranges::copy(std::array{2, 9, kPad, 8, kPad, kPad, 7, 7, kPad, 3, 4}, c.inputs[1].data<std::int32_t>());
  c.refused = {{{{kTargetRows, 4}}, "1 inputs, expected 2"},
               {{{kTargetRows, 4}, {kSourceRows}}, "token ids have shape [S], expected [T]"}};
  return {c};
}
INSTANTIATE_TEST_SUITE_P(PositionsWithoutPads, LayerContract, testing::Values(&padded_cases));

TEST(PositionalEncoding, SinusoidsOfFarPositionsKeepTheirAccuracy) {
  for (const SinusoidLayout layout : {SinusoidLayout::interleaved, SinusoidLayout::halves}) {
    for (const std::int64_t position : {1023, 1024, 100000, 1 << 30}) {
      Tensor row = Tensor::allocate({1, 64});
      sinusoid(position, layout, 64, row.data<float>());
      Matrix expected = sinusoids(layout, position, 1, 64);
      // A double holds an angle of `position` radians to within position * 2^-53. Each of the two computations may be
      // off by twice that.
      for (double& error : expected.errors) error += static_cast<double>(position) * 0x1p-51;
      EXPECT_TRUE(is_close_to(expected, row)) << position;
    }
  }
}

TEST(PositionalEncoding, RefusesPositionsBeyondTheLearnedOnes) {
  const auto layer =
      std::make_shared<PositionalEncoding>(make_scope({{"weight", Tensor::allocate({12, 4})}}), learned(4, 10, 2));
  LayerRunner runner(layer, std::vector<Shape>{{kTargetRows, 4}});
  EXPECT_NO_THROW(runner.run(std::array{Tensor::allocate({1, 4})}, packed(std::array{1}, std::array{9})));
  EXPECT_EQ(message_of<InputError>([&] {
              runner.run(std::array{Tensor::allocate({2, 4})}, packed(std::array{2}, std::array{9}));
            }),
            "a sequence of more than 10 tokens, but the model has 10 positions");
}

// Expected values from M2M100SinusoidalPositionalEmbedding.get_embedding of transformers 5.23, rounded to six digits.
TEST(PositionalEncoding, TimingSignalsMatchM2M100) {
  std::array<float, 7> row{};
  sinusoid(5, SinusoidLayout::timing_signal, 7, row.data());
  constexpr std::array kExpected = {-0.958924, 0.0499792, 0.0005, 0.283662, 0.99875, 1.0, 0.0};
  for (std::size_t i = 0; i < row.size(); ++i) EXPECT_NEAR(row[i], kExpected[i], 1e-6) << i;
}

TEST(PositionalEncoding, ImpossibleOptionsAreRefused) {
  const WeightScope none = make_scope({});
  const auto refused = [&](const PositionOptions& options) {
    EXPECT_THROW(PositionalEncoding(none, options), ConfigError);
  };
  refused({.kind = PositionOptions::Kind::none, .model_dim = 4});
  refused({.model_dim = 0});
  refused({.model_dim = 4, .offset = -1});
  refused({.model_dim = 4, .pad_token = -1});
  EXPECT_THROW(PositionalEncoding(SinusoidLayout::halves, -4), ConfigError);
}

}  // namespace
}  // namespace encdec
