#include "encdec/layers/transformer/positional_encoding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/layers/bad_input.h"
#include "tests/support/comparison.h"
#include "tests/support/golden_layer.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

using reference::Matrix;

constexpr std::array kTableRows = {3, 1, 7};
constexpr std::array kTablePasts = {0, 5, 1020};  // the last sequence reaches beyond the tabulated positions

PositionOptions learned(Dim width, Dim positions, Dim offset) {
  return {.kind = PositionOptions::Kind::learned, .model_dim = width, .count = positions, .offset = offset};
}

Matrix sinusoids(SinusoidLayout layout, std::int64_t first, std::int64_t count, Dim width) {
  return layout == SinusoidLayout::interleaved ? reference::sinusoids_interleaved(first, count, width)
                                               : reference::sinusoids_halves(first, count, width);
}

TEST(PositionalEncoding, AddsTheSinusoidOfEachPosition) {
  RandomTensors random(1);
  for (const SinusoidLayout layout : {SinusoidLayout::interleaved, SinusoidLayout::halves}) {
    for (const Dim width : {1, 2, 5, 8, 31, 512}) {
      LayerRunner runner(std::make_shared<PositionalEncoding>(layout, width), std::vector<Shape>{{kTargetRows, width}});
      const Tensor input = random.uniform({11, width});
      std::vector<Matrix> expected;
      for (std::size_t i = 0; i < kTableRows.size(); ++i)
        expected.push_back(sinusoids(layout, kTablePasts[i], kTableRows[i], width));
      EXPECT_TRUE(is_close_to(add(Matrix(input), reference::stack(expected)),
                              runner.run(std::array{input}, packed(kTableRows, kTablePasts))))
          << "width " << width;
    }
  }
}

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

TEST(PositionalEncoding, AddsTheLearnedRowOfEachPosition) {
  RandomTensors random(2);
  for (const Dim offset : {0, 2}) {
    for (const DataType type : {DataType::float32, DataType::float16}) {
      const Tensor table = random.integers({20 + offset, 5}, 9, type), input = random.integers({11, 5}, 9);
      LayerRunner runner(std::make_shared<PositionalEncoding>(make_scope({{"weight", table}}), learned(5, 20, offset)),
                         std::vector<Shape>{{kTargetRows, 5}});
      constexpr std::array kLearnedPasts = {0, 5, 13};
      std::vector<Matrix> expected;
      for (std::size_t i = 0; i < kTableRows.size(); ++i) {
        expected.push_back(Matrix(table).slice_rows(offset + kLearnedPasts[i], kTableRows[i]));
      }
      EXPECT_TRUE(equals(add(Matrix(input), reference::stack(expected)),
                         runner.run(std::array{input}, packed(kTableRows, kLearnedPasts))));
    }
  }
}

TEST(PositionalEncoding, RefusesPositionsBeyondTheLearnedOnes) {
  const auto layer =
      std::make_shared<PositionalEncoding>(make_scope({{"weight", Tensor::allocate({12, 4})}}), learned(4, 10, 2));
  LayerRunner runner(layer, std::vector<Shape>{{kTargetRows, 4}});
  EXPECT_NO_THROW(runner.run(std::array{Tensor::allocate({1, 4})}, packed(std::array{1}, std::array{9})));
  try {
    runner.run(std::array{Tensor::allocate({2, 4})}, packed(std::array{2}, std::array{9}));
    ADD_FAILURE() << "no exception";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "a sequence of more than 10 tokens, but the model has 10 positions");
  }
}

// Rows as fairseq counts positions: a pad gets the row of the pad id, other tokens get the rows after it, and pads are
// not counted.
TEST(PositionalEncoding, PadsDoNotCountAsPositions) {
  RandomTensors random(3);
  constexpr std::int32_t kPad = 1;
  const std::vector<std::int32_t> token_ids{2, 9, kPad, 8, kPad, kPad, 7, 7};
  const std::vector<int> expected_rows{2, 3, 1, 4, 1, 1, 2 + 3, 2 + 4};  // the second sequence has a past of 3
  Tensor ids = Tensor::allocate({8}, DataType::int32);
  std::ranges::copy(token_ids, ids.data<std::int32_t>());
  const Tensor table = random.integers({12, 4}, 9), input = random.integers({8, 4}, 9);
  PositionOptions options = learned(4, 10, 2);
  options.pad_token = kPad;
  const auto layer = std::make_shared<PositionalEncoding>(make_scope({{"weight", table}}), options);
  Graph graph("test");
  const Edge x = graph.input("x", {kTargetRows, 4});
  const Edge tokens = graph.input("tokens", {kTargetRows}, DataType::int32);
  graph.output(graph.add("layer", layer, {x, tokens}));
  const Executor executor(std::move(graph));
  RunState state(executor.graph());
  state.sequences = packed(std::array{5, 3}, std::array{0, 3});
  const std::array inputs{input, ids};
  EXPECT_TRUE(equals(add(Matrix(input), Matrix(gather_rows(table, expected_rows))), executor.run(inputs, state)[0]));
  EXPECT_EQ(shape_error(layer, {{kTargetRows, 4}}), "1 inputs, expected 2");
  EXPECT_EQ(shape_error(layer, {{kTargetRows, 4}, {kSourceRows}}), "token ids have shape [S], expected [T]");
}

// A sinusoid layout, its name in the golden cases, and the error that PyTorch's encoding may have. The angle of a
// timing signal is a float32 rounded twice; positions are below 64.
struct GoldenSinusoid {
  std::string name;
  SinusoidLayout layout;
  double angle_error = 0.0;
};

TEST(PositionalEncoding, SinusoidsMatchPyTorch) {
  const GoldenLayer golden("positions");
  for (const auto& [name, layout, angle_error] : {GoldenSinusoid{"interleaved", SinusoidLayout::interleaved},
                                                  {"halves", SinusoidLayout::halves},
                                                  {"timing_signal", SinusoidLayout::timing_signal, 64 * 0x1p-22}}) {
    for (const Dim width : {8, 7}) {
      const std::string c = name + "_" + std::to_string(width);
      const Tensor x = golden.input(c, "x"), sum = golden.output(c, "sum");
      const int past = golden.input(c, "past").data<std::int32_t>()[0];
      LayerRunner runner(std::make_shared<PositionalEncoding>(layout, width), std::vector<Shape>{{kTargetRows, width}});
      const Tensor output = runner.run(std::array{x}, packed(std::array{5}, std::array{past}));
      Matrix expected(0, 0);
      if (layout == SinusoidLayout::timing_signal) {
        expected = Matrix(sum);
        for (double& error : expected.errors) error += angle_error + 2 * 0x1p-23;
      } else {
        expected = add(Matrix(x), sinusoids(layout, past, 5, width));
      }
      EXPECT_TRUE(is_close_to(expected, sum)) << c;
      EXPECT_TRUE(is_close_to(expected, output)) << c;
    }
  }
}

TEST(PositionalEncoding, LearnedRowsMatchPyTorch) {
  const GoldenLayer golden("positions");
  const Tensor x = golden.input("learned", "x");
  LayerRunner runner(std::make_shared<PositionalEncoding>(golden.weights("learned"), learned(7, 7, 2)),
                     std::vector<Shape>{{kTargetRows, 7}});
  const Tensor table = golden.weights("learned").tensor("weight", {9, 7});
  const Matrix expected = add(Matrix(x), Matrix(table).slice_rows(2, 5));
  EXPECT_TRUE(is_close_to(expected, golden.output("learned", "sum")));
  EXPECT_TRUE(same_bits(golden.output("learned", "sum"), runner.run(std::array{x}, packed(std::array{5}))));
}

// Expected values from M2M100SinusoidalPositionalEmbedding.get_embedding of transformers 5.23, rounded to six digits.
TEST(PositionalEncoding, TimingSignalsMatchM2M100) {
  std::array<float, 7> row{};
  sinusoid(5, SinusoidLayout::timing_signal, 7, row.data());
  constexpr std::array kExpected = {-0.958924, 0.0499792, 0.0005, 0.283662, 0.99875, 1.0, 0.0};
  for (std::size_t i = 0; i < row.size(); ++i) EXPECT_NEAR(row[i], kExpected[i], 1e-6) << i;
}

TEST(PositionalEncoding, EveryWeightIsChecked) {
  expect_every_weight_is_checked<PositionalEncoding>({{"weight", Tensor::allocate({12, 4})}}, learned(4, 10, 2));
}

TEST(PositionalEncoding, RefusesInputsThatDoNotFit) {
  const auto layer = std::make_shared<PositionalEncoding>(SinusoidLayout::halves, 8);
  EXPECT_EQ(shape_error(layer, {}), "0 inputs, expected 1");
  EXPECT_EQ(shape_error(layer, {{3, 8}, {3, 8}}), "2 inputs, expected 1");
  EXPECT_EQ(shape_error(layer, {{kSourceRows, 9}}), "input has shape [S, 9], expected [rows, 8]");
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

TEST(PositionalEncoding, SequencesMustCoverAllRows) {
  LayerRunner runner(std::make_shared<PositionalEncoding>(SinusoidLayout::halves, 4),
                     std::array{Shape{kSourceRows, 4}});
  const std::array<Tensor, 1> inputs = {Tensor::allocate({5, 4})};
  EXPECT_THROW(runner.run(inputs, {}), InputError);
  EXPECT_THROW(runner.run(inputs, packed(std::array{4})), InputError);
  EXPECT_NO_THROW(runner.run(inputs, packed(std::array{4, 1})));
}

}  // namespace
}  // namespace encdec
