#include "encdec/layers/positional_encoding.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/layers/bad_input.h"
#include "tests/support/comparison.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

using reference::Matrix;

constexpr std::array kRows = {3, 1, 7};
constexpr std::array kPasts = {0, 5, 1020};  // the last one reaches beyond the positions that are tabulated

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
      for (std::size_t i = 0; i < kRows.size(); ++i) expected.push_back(sinusoids(layout, kPasts[i], kRows[i], width));
      EXPECT_TRUE(is_close_to(add(Matrix(input), reference::stack(expected)),
                              runner.run(std::array{input}, packed(kRows, kPasts))))
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
      // A double holds an angle of so many radians to position * 2^-53, of which the two computations may differ by
      // two.
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
      LayerRunner runner(
          std::make_shared<PositionalEncoding>(make_scope({{"weight", table}}),
                                               LearnedPositions{.model_dim = 5, .positions = 20, .offset = offset}),
          std::vector<Shape>{{kTargetRows, 5}});
      constexpr std::array kLearnedPasts = {0, 5, 13};
      std::vector<Matrix> expected;
      for (std::size_t i = 0; i < kRows.size(); ++i) {
        expected.push_back(Matrix(table).slice_rows(offset + kLearnedPasts[i], kRows[i]));
      }
      EXPECT_TRUE(equals(add(Matrix(input), reference::stack(expected)),
                         runner.run(std::array{input}, packed(kRows, kLearnedPasts))));
    }
  }
}

TEST(PositionalEncoding, LearnedPositionsEnd) {
  const auto layer =
      std::make_shared<PositionalEncoding>(make_scope({{"weight", Tensor::allocate({12, 4})}}),
                                           LearnedPositions{.model_dim = 4, .positions = 10, .offset = 2});
  LayerRunner runner(layer, std::vector<Shape>{{kTargetRows, 4}});
  EXPECT_NO_THROW(runner.run(std::array{Tensor::allocate({1, 4})}, packed(std::array{1}, std::array{9})));
  try {
    runner.run(std::array{Tensor::allocate({2, 4})}, packed(std::array{2}, std::array{9}));
    ADD_FAILURE() << "no exception";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "a sequence of more than 10 tokens, but the model has 10 positions");
  }
}

TEST(PositionalEncoding, EveryWeightIsChecked) {
  expect_every_weight_is_checked<PositionalEncoding>({{"weight", Tensor::allocate({12, 4})}},
                                                     LearnedPositions{.model_dim = 4, .positions = 10, .offset = 2});
}

TEST(PositionalEncoding, RefusesInputsThatDoNotFit) {
  const auto layer = std::make_shared<PositionalEncoding>(SinusoidLayout::halves, 8);
  EXPECT_EQ(shape_error(layer, {}), "0 inputs, expected 1");
  EXPECT_EQ(shape_error(layer, {{3, 8}, {3, 8}}), "2 inputs, expected 1");
  EXPECT_EQ(shape_error(layer, {{kSourceRows, 9}}), "input has shape [S, 9], expected [rows, 8]");
}

}  // namespace
}  // namespace encdec
